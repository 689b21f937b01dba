/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Holder path: where a holder and its clients find each other
 *
 * A directory with the control socket in it: $CLRSYM_HOLDER; else the user's own,
 * $XDG_RUNTIME_DIR/clrsym/holder, if a holder is there; else /run/clrsym/holder, root's.
 *
 * The caller frees the paths.
 */

#include <glib.h>

/* The directory of the holder to ask: the user's own, or root's if only that exists. NULL with
 * ERROR set. */
char *holder_path_to_ask(GError **error);
/* The directory of a holder that we start. NULL with ERROR set. */
char *holder_path_own(GError **error);
/* The control socket of a holder. */
char *holder_path_control(const char *directory);
/* The holder's program. */
char *holder_path_program(void);
