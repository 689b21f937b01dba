/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Messages about the callers that copies of stacks have
 */

#include "unwind/stack-walk.h"

#include <glib.h>

/* NOTES gets messages for the user (owned). IS_DEEP: stacks are not only as deep as their copies
 * (StackSources.memory). */
void perf_stacks_note(const StackCounts *counts, bool is_deep, GPtrArray *notes);

/* Appends to NOTES why the stacks of INPUT are not those of perf record -g. STACKS: as of
 * Recording. */
void perf_stacks_note_kind(const char *stacks, const char *input, GPtrArray *notes);
