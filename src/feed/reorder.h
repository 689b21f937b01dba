/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reorder buffer: frames from disk that wait for older ones of other streams
 *
 * On disk, one stream can be further than another: the latest events of one processor can be there
 * when those of another one are not. Frames wait here until nothing older can come, so that the
 * daemon gets everything in order of time over all streams, as from a live reader.
 */

#include "wire/ingest.h"

typedef struct ReorderBuffer {
        GArray *frames;    /* of ReorderFrame */
        GByteArray *bytes; /* owned: of the frames */
        size_t n_taken;    /* frames that were taken */
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
