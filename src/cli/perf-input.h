/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Perf input: checks of a recording before clrsym reads it, and of files beside it
 */

#include <glib.h>
#include <stdbool.h>

/* Call this for a file without the runtime's samples or named samples. False with ERROR set: perf
 * did not write it, or, unless IS_FORCED, it belongs to another user. */
bool perf_input_check(const char *path, bool is_forced, GError **error);

/* The note on a recording without events of the runtime; WHY gives the reason. IS_COLLECT: the
 * recorder was collect-linux. The caller frees it. */
char *perf_input_no_events(bool is_collect, const char *why);
