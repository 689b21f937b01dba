/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stacks of a recording by perf record --call-graph dwarf
 */

#include "unwind/stack-file.h"

#include <glib.h>

/* Paths in a directory of the caller; owned. */
typedef struct PerfStacks {
        char *samples; /* the recording with the callers of its samples, as if perf had recorded
                        * them; NULL: they cannot be found */
        char *hidden;  /* the callers that frames can hide, for the filter; NULL: the same */
} PerfStacks;

/* For INPUT, in DIRECTORY. NOTES gets messages for the user (owned). */
void perf_stacks_unwind(const char *input, const StackSources *sources, const char *directory,
                        PerfStacks *ret_stacks, GPtrArray *notes);
void perf_stacks_deinit(PerfStacks *stacks);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(PerfStacks, perf_stacks_deinit)
