/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Nettrace reader: bytes of a stream of events in; records and gaps, in order of time, out
 *
 * The reader does no input or output: a file's reader and the holder of a live session push bytes.
 * Payloads have the layouts of the runtime's manifest, like LTTng's packed events, so
 * packed_decode() (event/decode.h) reads them.
 *
 * The order: a record comes out when no older event can come. The runtime promises that by marks on
 * events and by sequence points. An event that breaks a promise, or has no metadata, becomes a gap.
 * Memory: one block, and the events since the last promise, at most NETTRACE_MAX_QUEUED; above
 * that, events come out without a promise.
 */

#include "event/decode.h"
#include "event/stream.h"
#include "nettrace/events.h"
#include "nettrace/header.h"
#include "nettrace/sample.h"

/* Bytes of waiting events. A .NET session has a promise every 10 MB. */
#define NETTRACE_MAX_QUEUED (64u << 20)

typedef struct NettraceReader NettraceReader;

NettraceReader *nettrace_reader_new(EventUse use);
void nettrace_reader_free(NettraceReader *reader);
/* Replaces the limit NETTRACE_MAX_QUEUED, in bytes. */
void nettrace_reader_limit(NettraceReader *reader, size_t n_bytes);

/*
 * The clock of the stream is AHEAD ns ahead of the host's, because the process is in a time
 * namespace. All returned times are the host's. Call it before the first push.
 */
void nettrace_reader_set_ahead(NettraceReader *reader, int64_t ahead);

typedef void (*NettraceSampleFn)(void *data, const NettraceSample *sample);

/*
 * While bytes are pushed, FN gets all kinds of samples, in the stream's order. Without FN samples
 * are ignored.
 */
void nettrace_reader_take_samples(NettraceReader *reader, NettraceSampleFn fn, void *data);

/*
 * An event of a recorder of the whole machine. Everything is borrowed, and valid during the call.
 */
typedef struct NettraceUniversal {
        const Record *record;      /* its process can be 0 */
        uint32_t processor;        /* NETTRACE_NO_PROCESSOR: not recorded */
        const uint64_t *addresses; /* of the stack, the leaf first */
        size_t n_addresses;
} NettraceUniversal;

typedef void (*NettraceUniversalFn)(void *data, const NettraceUniversal *event);

/*
 * While bytes are pushed, FN gets the Universal events, in the stream's order. Wanted ones come as
 * records, too.
 */
void nettrace_reader_take_universal(NettraceReader *reader, NettraceUniversalFn fn, void *data);

/*
 * Takes N more bytes of the stream. False with ERROR set (of NETTRACE_ERROR): the stream is damaged
 * or of another format; no more bytes may be pushed. Earlier records can still be taken.
 */
bool nettrace_reader_push(NettraceReader *reader, const uint8_t *bytes, size_t n, GError **error);
/* Ends the stream: all records can be taken. A possible loss at the end is a gap. */
void nettrace_reader_finish(NettraceReader *reader);

typedef enum NettraceItem {
        NETTRACE_ITEM_NONE, /* push more */
        NETTRACE_ITEM_RECORD,
        NETTRACE_ITEM_GAP, /* of all processes of the stream */
} NettraceItem;

/*
 * The next record or gap; the result tells which one is set. Times are ns of the stream's clock.
 * The ends of gaps increase. A record's views are valid until the next call that changes the
 * reader.
 */
NettraceItem nettrace_reader_next(NettraceReader *reader, Record *ret_record, StreamGap *ret_gap);

/* NULL: the header has not come yet. Borrowed. */
const NettraceHeader *nettrace_reader_header(const NettraceReader *reader);
/*
 * All events before that time, ns, have come; they are out when nettrace_reader_next() returns
 * NONE.
 */
uint64_t nettrace_reader_horizon(const NettraceReader *reader);
/* The time, ns, of the last event that waits for a later horizon; 0: none. */
uint64_t nettrace_reader_waiting(const NettraceReader *reader);
/* Bytes of events pushed and not taken, with their descriptions. */
size_t nettrace_reader_n_bytes(const NettraceReader *reader);
/* True: the end mark of the stream has come. */
bool nettrace_reader_is_complete(const NettraceReader *reader);

void nettrace_reader_report(const NettraceReader *reader, FeederReport *ret_report);
/* A table of event_counts_new(), with all .NET events seen; borrowed. */
GHashTable *nettrace_reader_counts(const NettraceReader *reader);
