/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Messages about the callers that copies of stacks have
 */

#include "unwind/stack-walk.h"

#include <glib.h>

/* NOTES gets messages for the user (owned). */
void perf_stacks_note(const StackCounts *counts, GPtrArray *notes);
