/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answer: a clrsym_answer from a row of the binary form
 */

#include "client/name-cache.h"
#include "clrsym/clrsym.h"
#include "wire/bulk.h"

/* The texts and rows that the numbers in a row refer to. Borrowed. */
typedef struct AnswerContext {
        const NameCache *names;
        const BulkProcess *processes;
        uint32_t n_processes;
        const BulkStub *stubs;
        uint32_t n_stubs;
        const clrsym_inlined *inlined; /* of the last INLINED */
        uint32_t n_inlined;
} AnswerContext;

/* Returns NULL, or the error in the row (static). A row with one wrong part is refused, because a
 * wrong name is worse than none. */
const char *answer_from_row(const AnswerContext *context, const BulkAnswer *row,
                            const clrsym_query *query, clrsym_answer *ret);
