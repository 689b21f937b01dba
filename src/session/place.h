/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Place: the directory where a user's sessions, and the daemons started for them, are remembered
 *
 * $CLRSYM_SESSIONS; else /run/clrsym/sessions for root, $XDG_RUNTIME_DIR/clrsym/sessions for
 * others.
 */

#include <glib.h>
#include <jansson.h>

/* Makes it, if need be. The caller's; NULL with ERROR set. */
char *place_open(GError **error);
/* As it is: NULL without ERROR if nothing was ever remembered. */
char *place_look(GError **error);

/* Nobody else changes what is in it until the lock is closed. -1 with ERROR set. */
int place_lock(const char *place, GError **error);

/*
 * A file of it: NULL without ERROR if there is none, with ERROR if it cannot be read. It may be
 * another user's place: what is no file, or larger than any that is written here, is not read.
 */
json_t *place_read(const char *place, const char *name, GError **error);
/* Replaces it as a whole. Borrows VALUE. */
gboolean place_write(const char *place, const char *name, const json_t *value, GError **error);
void place_remove(const char *place, const char *name);
/* The names of its files that end with SUFFIX, less that; sorted. */
GPtrArray *place_list(const char *place, const char *suffix);
