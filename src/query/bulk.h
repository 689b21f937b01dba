/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bulk: the binary form of questions and answers, for one client; see wire/bulk.h
 */

#include "query/query.h"

typedef struct Bulk Bulk;

/* VERSION: 1 or 2 (BULK_VERSION). */
Bulk *bulk_new(const QueryContext *context, unsigned version);
void bulk_free(Bulk *bulk);

/*
 * Takes one frame from the start of BYTES, and appends what answers it to OUT. Returns the frame's
 * size; 0 if more bytes are needed, or if it is to wait (RET_WAIT_MS is not 0 then: call again when
 * records or progress have come, and with IS_FINAL once that time is over); or -EBADMSG for what is
 * no frame: why is appended, and nothing more is taken.
 */
ssize_t bulk_run(Bulk *bulk, const uint8_t *bytes, size_t n_bytes, bool is_final,
                 unsigned *ret_wait_ms, GString *out);
