/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reorder buffer: frames from disk that wait for older ones of other streams
 *
 * On disk, one stream is further than another: what a processor did lately may be there when that
 * of another one is not. What was read is held back until it is sure that nothing older comes, so
 * that the daemon gets everything in order of time over all streams, as a live reader has it.
 */

#include "wire/ingest.h"

typedef struct ReorderBuffer {
        GArray *frames;    /* of ReorderFrame */
        GByteArray *bytes; /* owned: of the frames */
        size_t n_taken;    /* frames that are gone */
        bool is_sorted;
} ReorderBuffer;

void reorder_init(ReorderBuffer *buffer);
void reorder_deinit(ReorderBuffer *buffer);
void reorder_clear(ReorderBuffer *buffer);
bool reorder_is_empty(const ReorderBuffer *buffer);

/* Adds N bytes, a whole frame. Frames of one stream are added in the order of ORDER. */
void reorder_add(ReorderBuffer *buffer, int64_t order, const uint8_t *frame, size_t n);
/* Moves all frames up to and including LIMIT to OUT, in order. */
void reorder_take(ReorderBuffer *buffer, int64_t limit, GByteArray *out);
