/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Read-ahead: a thread that reads and decodes a file while its caller works on what was read
 *
 * The items are the reader's, in its order, handed over in batches (util/ahead.h).
 */

#include "nettrace/file.h"

typedef struct NettraceReadItem {
        NettraceItem type; /* not NONE */
        StreamGap gap;
        Record record; /* its views are the batch's */
} NettraceReadItem;

typedef struct NettraceReadBatch {
        NettraceReadItem *items; /* owned */
        size_t n_items;
        NettraceFileResult result; /* what follows: NETTRACE_FILE_MORE is another batch */
        GError *error;             /* owned: of NETTRACE_FILE_ERROR */
        /* As of the end of the batch. */
        const NettraceHeader *header; /* borrowed from the reader, and does not change; or NULL */
        uint64_t horizon;             /* ns */
        uint64_t n_read;              /* bytes of the file */
        FeederReport report;
        uint8_t *bytes; /* owned: what the records' values refer to */
        size_t n_bytes, n_allocated;
} NettraceReadBatch;

typedef struct NettraceReadAhead NettraceReadAhead;

/* FILE and READER are borrowed, and must not be used until the read-ahead is freed. */
NettraceReadAhead *nettrace_read_ahead_new(NettraceFile *file, NettraceReader *reader);
void nettrace_read_ahead_free(NettraceReadAhead *ahead);

/* The next batch, borrowed until the next call. There is none after one that nothing follows. */
NettraceReadBatch *nettrace_read_ahead_next(NettraceReadAhead *ahead);
