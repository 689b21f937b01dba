/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inlined frames: the methods that were inlined at an address, for people and as JSON
 */

#include "clrsym/clrsym.h"

#include <glib.h>

/* Where names and lines are from, and how they are written. LINES is borrowed. */
typedef struct InlinedFrames {
        clrsym_lines *lines;
        int32_t pid; /* the process whose files are read; 0: those that we see */
        clrsym_style style;
} InlinedFrames;

/*
 * Appends ", inlined ~Inner() at FILE:LINE:COLUMN in ~Outer()", from the innermost one on, if there
 * is any.
 */
void inlined_frames_append_text(const InlinedFrames *frames, GString *out,
                                const clrsym_answer *answer, bool has_lines);
/*
 * Appends the member inlined_frames, with a comma before it, if there is any: for each inlined
 * method an object with symbol, file, line, column and line_status.
 */
void inlined_frames_append_json(const InlinedFrames *frames, GString *out,
                                const clrsym_answer *answer);
