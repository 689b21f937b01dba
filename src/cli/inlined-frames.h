/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Inlined frames: the methods that were inlined at an address, for people and as JSON
 */

#include "clrsym/clrsym.h"

#include <glib.h>

/* Sources and style of names and lines. LINES is borrowed. */
typedef struct InlinedFrames {
        clrsym_lines *lines;
        int32_t pid; /* the process whose files are read; 0: files as we see them */
        clrsym_style style;
} InlinedFrames;

/*
 * Appends ", inlined ~Inner() at FILE:LINE:COLUMN in ~Outer()", innermost first, if methods are
 * inlined there.
 */
void inlined_frames_append_text(const InlinedFrames *frames, GString *out,
                                const clrsym_answer *answer, bool has_lines);
/*
 * If methods are inlined there, appends a comma and the member inlined_frames: for each inlined
 * method an object with symbol, file, line, column and line_status.
 */
void inlined_frames_append_json(const InlinedFrames *frames, GString *out,
                                const clrsym_answer *answer);
