/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Nettrace reader: bytes of a stream of events in, records and gaps in the order of time out
 *
 * Without input or output of its own: a file's reader and the holder of a live session push what
 * they have read. The payloads have the layouts of the runtime's manifest, as LTTng's packed events
 * have, so that packed_decode() (event/decode.h) reads them.
 *
 * The order: a record comes out once nothing older can come: the runtime marks events, and has
 * points of sequence, with that promise. An event that breaks it, or that no metadata explains, is
 * not used: it is a gap. Memory: one block and the events since the last promise,
 * NETTRACE_MAX_QUEUED at most; with more, they come out without it.
 */

#include "event/decode.h"
#include "event/stream.h"
#include "nettrace/events.h"
#include "nettrace/header.h"
#include "nettrace/sample.h"

/* Bytes of events that wait for an older one. A session of .NET has a promise every 10 MB. */
#define NETTRACE_MAX_QUEUED (64u << 20)

typedef struct NettraceReader NettraceReader;

NettraceReader *nettrace_reader_new(EventUse use);
void nettrace_reader_free(NettraceReader *reader);
/* Another limit than NETTRACE_MAX_QUEUED, in bytes. */
void nettrace_reader_limit(NettraceReader *reader, size_t n_bytes);

/*
 * The clock of the stream is AHEAD ns ahead of ours: the process is in a time namespace. All times
 * that come out are of ours. Before anything is pushed.
 */
void nettrace_reader_set_ahead(NettraceReader *reader, int64_t ahead);

typedef void (*NettraceSampleFn)(void *data, const NettraceSample *sample);

/* FN gets the samples, of all kinds, while bytes are pushed, in the stream's order. Without it they
 * are ignored.
 */
void nettrace_reader_take_samples(NettraceReader *reader, NettraceSampleFn fn, void *data);

/* An event of a recorder of the whole machine. All is borrowed, and valid during the call. */
typedef struct NettraceUniversal {
        const Record *record;      /* its process can be 0 */
        uint32_t processor;        /* NETTRACE_NO_PROCESSOR: not recorded */
        const uint64_t *addresses; /* of the stack, the leaf first */
        size_t n_addresses;
} NettraceUniversal;

typedef void (*NettraceUniversalFn)(void *data, const NettraceUniversal *event);

/* FN gets the Universal events while bytes are pushed, in the stream's order. They come as records
 * as well, if they are wanted.
 */
void nettrace_reader_take_universal(NettraceReader *reader, NettraceUniversalFn fn, void *data);

/*
 * Takes N more bytes of the stream. False with ERROR set (of NETTRACE_ERROR): the stream is damaged
 * or of another format, and nothing can be pushed any more. What came before can still be taken.
 */
bool nettrace_reader_push(NettraceReader *reader, const uint8_t *bytes, size_t n, GError **error);
/* Nothing more comes: everything can be taken. What may be missing at the end is a gap. */
void nettrace_reader_finish(NettraceReader *reader);

typedef enum NettraceItem {
        NETTRACE_ITEM_NONE, /* push more */
        NETTRACE_ITEM_RECORD,
        NETTRACE_ITEM_GAP, /* of all processes of the stream */
} NettraceItem;

/*
 * The next record, or gap: one of the two is set. Times are ns of the stream's clock. The ends of
 * gaps rise. A record's views are valid until the reader is changed.
 */
NettraceItem nettrace_reader_next(NettraceReader *reader, Record *ret_record, StreamGap *ret_gap);

/* NULL: it has not come yet. Borrowed. */
const NettraceHeader *nettrace_reader_header(const NettraceReader *reader);
/* Everything before that time, ns, has come; once nettrace_reader_next() has nothing more, it is
 * out. */
uint64_t nettrace_reader_horizon(const NettraceReader *reader);
/* The time, ns, of the last event that waits for a later horizon; 0: none does. */
uint64_t nettrace_reader_waiting(const NettraceReader *reader);
/* Bytes of events that were pushed and not taken, with what describes them. */
size_t nettrace_reader_n_bytes(const NettraceReader *reader);
/* True: the mark of the stream's end has come. */
bool nettrace_reader_is_complete(const NettraceReader *reader);

void nettrace_reader_report(const NettraceReader *reader, FeederReport *ret_report);
/* A table of event_counts_new(), of all .NET events seen; borrowed. */
GHashTable *nettrace_reader_counts(const NettraceReader *reader);
