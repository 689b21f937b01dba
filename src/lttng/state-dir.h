/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * State directory: a user's sessions, and the daemons that were started for them
 *
 * $CLRSYM_SESSIONS; else /run/clrsym/sessions for root, $XDG_RUNTIME_DIR/clrsym/sessions for
 * others.
 */

#include <glib.h>
#include <jansson.h>

/* Makes the directory if it is missing. The caller owns the path; NULL with ERROR set. */
char *state_dir_open(GError **error);
/* Does not make the directory: NULL without ERROR if it is missing. The caller owns the path. */
char *state_dir_look(GError **error);

/* Locks it until the descriptor is closed. -1 with ERROR set. */
int state_dir_lock(const char *directory, GError **error);

/* Reads a file of the directory: NULL without ERROR if it is missing, with ERROR if it cannot be
 * read. The directory may belong to another user: only regular files of up to 1 MiB are read. */
json_t *state_dir_read(const char *directory, const char *name, GError **error);
/* Replaces a file as a whole. Borrows VALUE. */
gboolean state_dir_write(const char *directory, const char *name, const json_t *value,
                         GError **error);
void state_dir_remove(const char *directory, const char *name);
/* The names of its files with SUFFIX, without SUFFIX; sorted. */
GPtrArray *state_dir_list(const char *directory, const char *suffix);
