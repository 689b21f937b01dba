/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Scratch: a feeder's private directory for sockets and copies, below the one for temporary files
 *
 * It is locked (flock) as long as its feeder lives. So another feeder knows which of those there
 * are left over, whatever pid namespace their feeders are of, and removes them; and what clears old
 * temporary files leaves ours.
 */

#include <glib.h>

typedef struct Scratch Scratch;

/* Makes one, and removes those of this user's feeders that are no more. NULL with ERROR set. */
Scratch *scratch_new(GError **error);
/* Removes it with what is in it. */
void scratch_free(Scratch *scratch);

/* Of SCRATCH, and as long as it. */
const char *scratch_path(const Scratch *scratch);
