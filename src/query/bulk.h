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

/* Frames are answered until TURN_END (like QueryContext's), or until too much output waits. */
void bulk_set_turn(Bulk *bulk, int64_t turn_end);

/* Bytes in memory, about. */
size_t bulk_size(const Bulk *bulk);
/* The condition that the frame waits for, if it waits. */
const QueryWait *bulk_wait(const Bulk *bulk);

/*
 * Takes one frame from the start of BYTES and appends its answers to OUT. Returns the size of the
 * frame; 0 if more bytes are needed, or if the frame has to wait (then RET_WAIT_MS is not 0: call
 * again after records or progress were applied, and with IS_FINAL after that time); -EAGAIN if the
 * turn is over: call again; -EBADMSG if the bytes are not a frame: the reason is appended, and no
 * further frame may be given.
 */
ssize_t bulk_run(Bulk *bulk, const uint8_t *bytes, size_t n_bytes, bool is_final,
                 unsigned *ret_wait_ms, GString *out);
