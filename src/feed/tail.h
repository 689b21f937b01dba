/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Tail: frames from disk that wait for those of other streams that are older
 *
 * On disk, one stream is further than another: what a processor did lately may be there when that
 * of another one is not. What was read is held back until it is sure that nothing older comes, so
 * that the daemon gets everything in order of time over all streams, as a live reader has it.
 */

#include "wire/ingest.h"

typedef struct Tail {
        GArray *frames;    /* of TailFrame */
        GByteArray *bytes; /* owned: of the frames */
        size_t n_taken;    /* frames that are gone */
        bool is_sorted;
} Tail;

void tail_init(Tail *tail);
void tail_deinit(Tail *tail);
void tail_clear(Tail *tail);
bool tail_is_empty(const Tail *tail);

/* Adds N bytes, a whole frame. Those of one stream are added in the order of their ORDER. */
void tail_add(Tail *tail, int64_t order, const uint8_t *frame, size_t n);
/* Appends all that are not behind LIMIT to OUT, in order, and forgets them. */
void tail_take(Tail *tail, int64_t limit, GByteArray *out);
