/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bulk: the binary form of questions and answers, for one client; see wire/bulk.h
 */

#include "query/query.h"

typedef struct Bulk Bulk;

/* VERSION: 1 to BULK_VERSION. */
Bulk *bulk_new(const QueryContext *context, unsigned version);
void bulk_free(Bulk *bulk);

/* Answers frames until TURN_END (like QueryContext's), or until too much output is queued. */
void bulk_set_turn(Bulk *bulk, int64_t turn_end);

/* Approximate memory, in bytes. */
size_t bulk_size(const Bulk *bulk);
/* The condition of a waiting frame; NULL: no frame waits. */
const QueryWait *bulk_wait(const Bulk *bulk);

/*
 * Takes one frame from the start of BYTES and appends its answers to OUT. Returns:
 * - the size of the frame
 * - 0: more bytes are needed; or, with RET_WAIT_MS not 0, the frame waits: call again after records
 *   or progress were applied, and with IS_FINAL after that time
 * - -EAGAIN: the turn is over, call again
 * - -EBADMSG: the bytes are not a frame. OUT has the reason; do not call again
 */
ssize_t bulk_run(Bulk *bulk, const uint8_t *bytes, size_t n_bytes, bool is_final,
                 unsigned *ret_wait_ms, GString *out);
