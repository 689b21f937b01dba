/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answer row: the facts about a native code body, as numbers, for all forms of an answer
 *
 * Names are numbers in the process's string table; the binary form uses these as ids of names.
 */

#include "tracker/answer.h"
#include "wire/answer-fields.h"

/* Fills the body's fields of ROW. ADDRESS, or NULL, decides about the IL offset. */
void answer_row_fill(BulkAnswer *row, const Process *process, const Body *body,
                     const uint64_t *address);
/* The method that an IL stub was made for; false if none is known. */
bool answer_row_stub(BulkStub *ret_row, const Process *process, const Body *body);
/*
 * The methods inlined at an address of the body, innermost first. Returns their number; 0 if the
 * code there is the body's own method's, or is not known.
 */
uint32_t answer_row_inlined(InlinedMethod ret[INLINING_MAX_DEPTH], const Process *process,
                            const Body *body, uint64_t address);
