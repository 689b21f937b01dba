/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Messages about callers from copies of stacks
 */

#include "unwind/stack-walk.h"

#include <glib.h>

/* NOTES gets messages for the user (owned). IS_DEEP: stacks are not only as deep as their copies
 * (StackSources.memory). */
void perf_stacks_note(const StackCounts *counts, bool is_deep, GPtrArray *notes);

/* Appends a note to NOTES if the stacks of INPUT differ from those of perf record -g, with the
 * reason. STACKS: that of Recording. */
void perf_stacks_note_kind(const char *stacks, const char *input, GPtrArray *notes);
