/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Line source: source lines for answers, configured by options
 */

#include "cli/options.h"
#include "clrsym/clrsym.h"

#include <glib.h>

typedef struct LineSource LineSource;

/* Uses the directories and maps of OPTIONS. */
LineSource *line_source_new(const Options *options);
/* NULL is fine. */
void line_source_free(LineSource *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LineSource, line_source_free)

/*
 * Appends " FILE:LINE:COLUMN", and a mark if the address is in code without a line of its own.
 * Appends nothing if no line is known. PID: the pid in the question, or 0.
 */
void line_source_append_text(LineSource *source, GString *out, int32_t pid,
                             const clrsym_answer *daemons);
/*
 * Appends ROW, one of the daemon's answers, in JSON, with the members file, line, column and
 * line_status, and with the IL offset of precompiled code. An answer that is not OK is appended
 * unchanged. Negative: as clrsym_row_answer().
 */
int line_source_append_answer(LineSource *source, GString *out, int32_t pid, clrsym_row *row);

/* Finds the first line of BODY's method in PROCESS. RET is valid until the next call. */
clrsym_line_status line_source_find_first(LineSource *source, const clrsym_process *process,
                                          const clrsym_body *body, clrsym_line *ret);
/*
 * Appends ROW, one of History or Versions, in JSON, with the members file, line, column and
 * line_status. Negative: as clrsym_row_body().
 */
int line_source_append_body(LineSource *source, GString *out, clrsym_row *row);
