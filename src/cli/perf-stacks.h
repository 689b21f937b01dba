/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stacks of a recording by perf record --call-graph dwarf
 */

#include <glib.h>

/*
 * The file in DIRECTORY that has the callers of INPUT's samples, as if perf had recorded them, to
 * be freed. NULL: they cannot be found. NOTES gets messages for the user (owned).
 */
char *perf_stacks_unwind(const char *input, const char *directory, GPtrArray *notes);
