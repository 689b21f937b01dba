/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Line source: source lines for answers, as the command line asks for them
 */

#include "cli/options.h"
#include "clrsym/clrsym.h"

#include <glib.h>

typedef struct LineSource LineSource;

/* With the directories and maps of OPTIONS. */
LineSource *line_source_new(const Options *options);
/* NULL is fine. */
void line_source_free(LineSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LineSource, line_source_free)

/*
 * Appends " FILE:LINE:COLUMN", and a mark where the address is in code that has no line of its own.
 * Nothing where there is no line. PID: the process as the question named it, or 0.
 */
void line_source_append_text(LineSource *source, GString *out, int32_t pid,
                             const clrsym_answer *daemons);
/*
 * Appends ROW, one of the daemon's answers, in JSON, with the members file, line, column and
 * line_status; and of precompiled code with the IL offset. An answer that is not OK is appended as
 * it is. Negative: as clrsym_row_answer().
 */
int line_source_append_answer(LineSource *source, GString *out, int32_t pid, clrsym_row *row);

/* The first line of the method of BODY, of PROCESS. RET is valid until the next question. */
clrsym_line_status line_source_find_first(LineSource *source, const clrsym_process *process,
                                          const clrsym_body *body, clrsym_line *ret);
/*
 * Appends ROW, one of History or Versions, in JSON, with the members file, line, column and
 * line_status. Negative: as clrsym_row_body().
 */
int line_source_append_body(LineSource *source, GString *out, clrsym_row *row);
