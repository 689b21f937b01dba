/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Answer: from a row of a batch
 */

#include "client/names.h"
#include "clrsym/clrsym.h"
#include "wire/bulk.h"

/* What a row's numbers stand for. Borrowed. */
typedef struct AnswerContext {
        const Names *names;
        const BulkProcess *processes;
        uint32_t n_processes;
        const BulkStub *stubs;
        uint32_t n_stubs;
} AnswerContext;

/*
 * Returns NULL, or what is wrong with the row (static): nothing in it is believed. A wrong name is
 * worse than none.
 */
const char *answer_from_row(const AnswerContext *context, const BulkAnswer *row,
                            const clrsym_query *query, clrsym_answer *ret);
