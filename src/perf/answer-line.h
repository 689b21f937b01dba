/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answer line: the source line of an answer's address
 *
 * Plain C, for perf's filter is loaded into perf.
 */

#include "clrsym/clrsym.h"
#include "lines/lines.h"
#include "lines/precompiled.h"

typedef struct AnswerLines {
        Lines *lines;             /* owned */
        Precompiled *precompiled; /* owned */
} AnswerLines;

/* False: no memory. Must be deinitialized in both cases. */
bool answer_lines_init(AnswerLines *lines);
void answer_lines_deinit(AnswerLines *lines);

/*
 * "FROM=TO", for lines_add_map(). False: it is not of that form, or there is no memory.
 */
bool answer_lines_add_map(AnswerLines *lines, const char *map);

/*
 * Sets the IL offset of precompiled code, which no event has: it is read from the image. PID: files
 * are those that this process sees; 0: those that we see.
 */
void answer_lines_complete(AnswerLines *lines, pid_t pid, clrsym_answer *answer);

/* The line of an answer that is complete and OK. RET is valid until the next question. */
LineStatus answer_lines_find(AnswerLines *lines, pid_t pid, const clrsym_answer *answer,
                             SourceLine *ret);
