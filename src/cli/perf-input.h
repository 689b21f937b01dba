/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Perf input: what is wrong with a recording before perf reads it, or missing beside it
 *
 * perf's own messages are of no help to somebody who gave the wrong file.
 */

#include <glib.h>
#include <stdbool.h>

/* PATH is neither of the runtime's samples nor of named ones. False with ERROR set: nor of perf's,
 * or of another user, unless it IS_FORCED. */
bool perf_input_check(const char *path, bool is_forced, GError **error);

/* The note on a recording without events of the runtime, and WHY there are none. IS_COLLECT: of
 * collect-linux. Owned by the caller. */
char *perf_input_no_events(bool is_collect, const char *why);
