/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Read-ahead: a thread that reads and decodes a trace while its caller works on what was read
 *
 * The items are the reader's, in its order, handed over in batches (util/ahead.h).
 */

#include "ctf/reader.h"

/* An item that was read. It does not depend on where its stream is now. */
typedef struct CtfReadItem {
        const CtfDataStream *stream; /* borrowed: only what never changes may be looked at */
        void *user;                  /* of the stream */
        CtfItemType type;
        uint64_t time;     /* ns of the clock */
        int64_t order;     /* ns since the epoch where the clock is absolute */
        bool has_time;     /* of the begin or end of a packet: its head has that time */
        StreamGap gap;     /* of a loss */
        CtfDecode outcome; /* of an event */
        Record record;     /* if that is CTF_DECODE_RECORD */
} CtfReadItem;

typedef struct CtfReadBatch {
        CtfReadItem *items; /* owned */
        size_t n_items;
        uint64_t weight;      /* how long it took to read, in items */
        uint64_t n_read;      /* bytes of the stream files up to here */
        CtfReadResult result; /* what follows: CTF_READ_ITEM is another batch */
        GError *error;        /* owned: of CTF_READ_ERROR */
        uint8_t *bytes;       /* owned: what the records' values refer to */
        size_t n_bytes, n_allocated;
} CtfReadBatch;

typedef struct CtfReadAhead CtfReadAhead;

/*
 * READER is borrowed, at its beginning. Until the last batch was returned it must not be used, but
 * for its streams' identities and its traces' names. Where a stream's `user` is set, that was
 * before.
 */
CtfReadAhead *ctf_read_ahead_new(CtfReader *reader);
/* Ends the thread: READER can be freed then. */
void ctf_read_ahead_free(CtfReadAhead *ahead);

/* The next batch, borrowed until the next call. There is none after one that nothing follows. */
CtfReadBatch *ctf_read_ahead_next(CtfReadAhead *ahead);
