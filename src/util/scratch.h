/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Scratch: a feeder's private directory for sockets and copies, below the temporary directory
 *
 * It is locked (flock) while its feeder lives. So a new feeder recognises directories that dead
 * feeders left, whatever their pid namespace, and removes them; and programs that clear old
 * temporary files leave a living feeder's alone.
 */

#include <glib.h>

typedef struct Scratch Scratch;

/* Makes one, and removes those that dead feeders of this user left. NULL with ERROR set. */
Scratch *scratch_new(GError **error);
/* Removes the directory with its contents. */
void scratch_free(Scratch *scratch);

/* Borrowed from SCRATCH. */
const char *scratch_path(const Scratch *scratch);

/* Removes a directory with its contents. */
void scratch_remove_tree(const char *path);
