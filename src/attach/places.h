/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Places: where a holder and who asks it find each other
 *
 * A directory with the control socket in it: $CLRSYM_HOLDER; else the user's own,
 * $XDG_RUNTIME_DIR/clrsym/holder, if a holder is there; else /run/clrsym/holder, root's.
 */

#include <glib.h>

/* The one to ask, newly allocated: root's if there is one. NULL with ERROR set. */
char *places_to_ask(GError **error);
/* The one of a holder that we start. */
char *places_own(GError **error);
char *places_control(const char *directory);

/* The daemon's socket for feeders: $CLRSYM_INGEST, the user's own if it is there, or the system's.
 */
char *places_ingest(void);

/* The holder's program, newly allocated. */
char *places_program(void);
