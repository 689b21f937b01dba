/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answer row: the facts about a native code body, as numbers, for all forms of an answer
 *
 * Names are numbers in the process's string table; the binary form uses these as ids of names.
 */

#include "tracker/answer.h"
#include "wire/answer-fields.h"

/* Fills the body's fields of ROW. ADDRESS: for the IL offset; NULL: no IL offset. */
void answer_row_fill(BulkAnswer *row, const Process *process, const Body *body,
                     const uint64_t *address);
/* Finds the method that an IL stub was made for. False: not known. */
bool answer_row_stub(BulkStub *ret_row, const Process *process, const Body *body);
/*
 * Finds the methods inlined at an address of the body, innermost first. Returns their number; 0:
 * the code is the body's own method's, or not known.
 */
uint32_t answer_row_inlined(InlinedMethod ret[INLINING_MAX_DEPTH], const Process *process,
                            const Body *body, uint64_t address);
