/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answer row: what is known of a native code body, as numbers, for all forms of an answer
 *
 * Names are numbers in the process's string table; in the binary form these are the ids of names.
 */

#include "tracker/answer.h"
#include "wire/answer-fields.h"

/* The fields of ROW that are the body's. ADDRESS, or NULL, is the one that the IL offset is for. */
void answer_row_fill(BulkAnswer *row, const Process *process, const Body *body,
                     const uint64_t *address);
/* The method that an IL stub was made for; false if none is known. */
bool answer_row_stub(BulkStub *ret_row, const Process *process, const Body *body);
/*
 * The methods inlined at an address of the body, from the innermost one on; how many, 0 if the code
 * there is its own method's, or nothing is known.
 */
uint32_t answer_row_inlined(InlinedMethod ret[INLINING_MAX_DEPTH], const Process *process,
                            const Body *body, uint64_t address);
