/* SPDX-License-Identifier: MIT */
#include "nettrace/reader.h"

#include "nettrace/error.h"
#include "nettrace/events.h"
#include "nettrace/metadata.h"
#include "nettrace/queue.h"
#include "nettrace/stacks.h"
#include "nettrace/threads.h"
#include "nettrace/waits.h"

#include <inttypes.h>

/* Flags of a sequence point in version 6. */
enum {
        POINT_FORGETS_THREADS = 1,
        POINT_FORGETS_METADATA = 2,
};

struct NettraceReader {
        NettraceFraming framing;
        NettraceMetadataTable metadata;
        NettraceThreads threads;
        NettraceQueue queue;
        NettraceSampleFn take_sample;       /* NULL: samples are not wanted */
        void *data;                         /* for take_sample */
        NettraceUniversalFn take_universal; /* NULL: Universal events are not wanted */
        void *universal_data;               /* for take_universal */
        /* Unused without either callback. */
        NettraceStacks stacks;
        NettraceWaits waits; /* of threads with wanted samples */
        GString *type;       /* owned: of the newest sample */
        GHashTable *counts;  /* owned */
        DecodeScratch scratch;
        NettraceHeader header;
        bool has_header;
        bool is_finished;
        int64_t ahead; /* ns: the clock of the stream less the host's */
        size_t max_queued;
        uint64_t horizon;        /* ns: the latest promise */
        uint64_t point;          /* ns: of a sequence point without any event since; or 0 */
        uint64_t latest;         /* ns: of all events, queued or not */
        uint64_t n_events;       /* of any kind */
        uint64_t n_unattributed; /* .NET events without a process */
        uint64_t n_unannounced;  /* events without metadata */
};

NettraceReader *nettrace_reader_new(EventUse use)
{
        NettraceReader *reader = g_new0(NettraceReader, 1);

        nettrace_framing_init(&reader->framing);
        reader->counts = event_counts_new();
        nettrace_metadata_init(&reader->metadata, use, reader->counts);
        nettrace_threads_init(&reader->threads);
        nettrace_queue_init(&reader->queue);
        nettrace_stacks_init(&reader->stacks);
        nettrace_waits_init(&reader->waits);
        reader->type = g_string_new(NULL);
        reader->scratch = DECODE_SCRATCH_INIT;
        reader->max_queued = NETTRACE_MAX_QUEUED;
        return reader;
}

void nettrace_reader_set_ahead(NettraceReader *reader, int64_t ahead)
{
        reader->ahead = ahead;
}

void nettrace_reader_free(NettraceReader *reader)
{
        if (!reader)
                return;
        nettrace_queue_deinit(&reader->queue);
        nettrace_stacks_deinit(&reader->stacks);
        nettrace_waits_deinit(&reader->waits);
        g_string_free(reader->type, TRUE);
        nettrace_threads_deinit(&reader->threads);
        nettrace_metadata_deinit(&reader->metadata);
        nettrace_framing_deinit(&reader->framing);
        g_hash_table_destroy(reader->counts);
        decode_scratch_deinit(&reader->scratch);
        g_free(reader);
}

void nettrace_reader_limit(NettraceReader *reader, size_t n_bytes)
{
        reader->max_queued = n_bytes;
}

void nettrace_reader_take_samples(NettraceReader *reader, NettraceSampleFn fn, void *data)
{
        reader->take_sample = fn;
        reader->data = data;
}

void nettrace_reader_take_universal(NettraceReader *reader, NettraceUniversalFn fn, void *data)
{
        reader->take_universal = fn;
        reader->universal_data = data;
}

static bool reader_fail(GError **error, uint64_t offset, const char *what)
{
        g_set_error(error, NETTRACE_ERROR, NETTRACE_ERROR_DAMAGED,
                    "damaged at byte %" PRIu64 " (%s): copy or record it again", offset, what);
        return false;
}

static bool reader_refuse_threads(GError **error, uint64_t offset)
{
        g_set_error(error, NETTRACE_ERROR, NETTRACE_ERROR_DAMAGED,
                    "at byte %" PRIu64 ", more than %u threads are open at a time: record fewer "
                    "programs at a time, or for a shorter time",
                    offset, NETTRACE_MAX_THREADS);
        return false;
}

static void reader_promise(NettraceReader *reader, uint64_t time)
{
        reader->horizon = MAX(reader->horizon, time);
}

static void reader_lose(NettraceReader *reader, const NettraceLoss *loss)
{
        const StreamGap gap = {GAP_EVENTS, loss->begin, loss->end, loss->count};

        nettrace_queue_add_loss(&reader->queue, &gap);
}

/* False: the process is not known. */
static bool reader_find_process(const NettraceReader *reader, uint64_t thread,
                                NettraceQueued *queued)
{
        const NettraceThread *described;

        if (reader->header.version < 6) {
                queued->pid = reader->header.pid;
                queued->tid = thread <= INT32_MAX ? (int32_t)thread : 0;
                return queued->pid > 0;
        }
        described = nettrace_threads_get(&reader->threads, thread);
        queued->pid = described && described->pid ? described->pid : reader->header.pid;
        queued->tid = described ? described->tid : 0;
        return queued->pid > 0;
}

/* Queues a wanted event of a .NET provider. CHUNK is its block's, made when needed. */
static void reader_queue(NettraceReader *reader, const NettraceEvents *events,
                         const NettraceMetadata *metadata, uint64_t time, NettraceChunk **chunk)
{
        const NettraceEvent *event = &events->event;
        NettraceQueued queued = {
                .time = time,
                .event = metadata->event,
                .counts = metadata->counts,
                .offset = (uint32_t)(event->payload - events->begin),
                .n_payload = event->n_payload,
                .is_later = metadata->is_later,
                .has_version = metadata->has_version,
        };

        /* Process 0 is an idle CPU. */
        if (!reader_find_process(reader, event->thread, &queued) && !metadata->universal) {
                reader->n_unattributed++;
                return;
        }
        if (!*chunk)
                *chunk = nettrace_queue_chunk(&reader->queue, events->begin,
                                              (size_t)(events->cursor.end - events->begin));
        queued.chunk = *chunk;
        nettrace_queue_add(&reader->queue, &queued);
}

/* Samples with an impossible amount, or with none, are skipped. */
static void reader_take_sample(NettraceReader *reader, const NettraceEvent *event,
                               NettraceSampleKind kind, uint64_t time)
{
        NettraceSample sample = {.time = time};
        NettraceQueued process;

        if (!nettrace_sample_decode(kind, event->payload, event->n_payload,
                                    reader->header.pointer_size, reader->type, &sample) ||
            !reader_find_process(reader, event->thread, &process))
                return;
        sample.pid = process.pid;
        sample.tid = process.tid;
        sample.addresses =
                nettrace_stacks_get(&reader->stacks, event->stack_id, &sample.n_addresses);
        if (kind == NETTRACE_SAMPLE_WAIT) {
                nettrace_waits_begin(&reader->waits, event->capture_thread, sample.addresses,
                                     sample.n_addresses);
                return;
        }
        if (kind == NETTRACE_SAMPLE_CONTENTION)
                sample.addresses = nettrace_waits_end(&reader->waits, event->capture_thread,
                                                      &sample.n_addresses);
        reader->take_sample(reader->data, &sample);
}

/* An event that cannot be decoded is counted when it comes as a record. */
static void reader_take_universal(NettraceReader *reader, const NettraceEvent *event,
                                  const Event *row, uint64_t time)
{
        Record record = {.time = time};
        NettraceUniversal universal = {.record = &record, .processor = event->processor};
        NettraceQueued process = {0};

        decode_scratch_reset(&reader->scratch);
        if (compact_decode(row, event->payload, event->n_payload, &reader->scratch, &record) !=
            DECODE_OK)
                return;
        reader_find_process(reader, event->thread, &process);
        record.process.pid = process.pid;
        record.tid = process.tid;
        universal.addresses =
                nettrace_stacks_get(&reader->stacks, event->stack_id, &universal.n_addresses);
        reader->take_universal(reader->universal_data, &universal);
}

/* Clamped to INT64_MAX. */
static uint64_t reader_time(const NettraceReader *reader, uint64_t ticks)
{
        return nettrace_header_ns(&reader->header, ticks) - (uint64_t)reader->ahead;
}

static bool reader_take_event(NettraceReader *reader, const NettraceEvents *events,
                              const NettraceMetadata *metadata, NettraceChunk **chunk,
                              GError **error)
{
        const NettraceEvent *event = &events->event;
        uint64_t time = reader_time(reader, event->ticks);
        NettraceLoss loss;

        if (event->ticks > INT64_MAX || time > INT64_MAX)
                return reader_fail(error, nettrace_events_offset(events),
                                   "an event of an impossible time");
        reader->n_events++;
        reader->latest = MAX(reader->latest, time);
        switch (nettrace_threads_count(&reader->threads, event->capture_thread, event->sequence,
                                       time, &loss)) {
        case NETTRACE_COUNT_WHOLE:
                break;
        case NETTRACE_COUNT_LOSS:
                reader_lose(reader, &loss);
                nettrace_waits_forget(&reader->waits, event->capture_thread);
                break;
        case NETTRACE_COUNT_TOO_MANY:
                return reader_refuse_threads(error, nettrace_events_offset(events));
        }
        if (metadata && metadata->counts)
                metadata->counts->n_events++;
        if (metadata && metadata->sample && reader->take_sample)
                reader_take_sample(reader, event, metadata->sample, time);
        if (metadata && metadata->universal && reader->take_universal)
                reader_take_universal(reader, event, metadata->universal, time);
        if (!metadata || (metadata->event && time < reader->horizon)) {
                /*
                 * The event is unknown, or it broke a promise: later events may have been
                 * delivered.
                 */
                reader->n_unannounced += !metadata;
                loss = (NettraceLoss){time, MAX(time, reader->horizon), 1};
                reader_lose(reader, &loss);
        } else if (metadata->event) {
                reader_queue(reader, events, metadata, time, chunk);
        }
        if (event->is_sorted)
                reader_promise(reader, time);
        return true;
}

static bool reader_take_event_block(NettraceReader *reader, const NettraceBlock *block,
                                    GError **error)
{
        const NettraceMetadata *metadata = NULL;
        NettraceChunk *chunk = NULL;
        NettraceEventsResult result;
        NettraceEvents events;
        bool ok = true;

        if (!nettrace_events_init(&events, block, reader->header.version))
                return reader_fail(error, block->offset, "a block of events without a header");
        while ((result = nettrace_events_next(&events)) == NETTRACE_EVENTS_ONE) {
                if (!metadata || metadata->id != events.event.metadata_id)
                        metadata =
                                nettrace_metadata_get(&reader->metadata, events.event.metadata_id);
                ok = reader_take_event(reader, &events, metadata, &chunk, error);
                if (!ok)
                        break;
        }
        if (chunk)
                nettrace_queue_release_chunk(&reader->queue, chunk);
        if (ok && result == NETTRACE_EVENTS_DAMAGED)
                ok = reader_fail(error, nettrace_events_offset(&events), "an event is cut off");
        return ok;
}

static bool reader_take_point(NettraceReader *reader, const NettraceBlock *block, GError **error)
{
        bool has_indexes = reader->header.version >= 6;
        NettraceCursor cursor = nettrace_cursor(block->bytes, block->n_bytes);
        uint64_t ticks = nettrace_u64(&cursor);
        uint32_t flags = has_indexes ? nettrace_u32(&cursor) : 0;
        uint32_t n = nettrace_u32(&cursor);
        uint64_t time = reader_time(reader, ticks);

        if (ticks > INT64_MAX || time > INT64_MAX)
                return reader_fail(error, block->offset, "a sequence point of an impossible time");
        nettrace_threads_begin_point(&reader->threads);
        for (; n > 0 && !cursor.is_short; n--) {
                uint64_t thread = has_indexes ? nettrace_varint(&cursor) : nettrace_u64(&cursor);
                uint32_t sequence =
                        has_indexes ? nettrace_varint32(&cursor) : nettrace_u32(&cursor);
                NettraceLoss loss;
                NettraceCount count;

                if (cursor.is_short)
                        break;
                count = nettrace_threads_check(&reader->threads, thread, sequence, time, &loss);
                if (count == NETTRACE_COUNT_LOSS)
                        reader_lose(reader, &loss);
                if (count == NETTRACE_COUNT_TOO_MANY)
                        return reader_refuse_threads(error, block->offset);
        }
        if (cursor.is_short)
                return reader_fail(error, block->offset, "a sequence point is cut off");
        reader->point = time;
        nettrace_stacks_clear(&reader->stacks);
        /* A sequence point of version 6 need not list all threads. */
        if (!has_indexes)
                nettrace_threads_end_point(&reader->threads);
        if (flags & POINT_FORGETS_THREADS) {
                nettrace_threads_clear(&reader->threads);
                nettrace_waits_clear(&reader->waits);
        }
        if (flags & POINT_FORGETS_METADATA)
                nettrace_metadata_clear(&reader->metadata);
        return true;
}

static bool reader_remove_threads(NettraceReader *reader, const NettraceBlock *block,
                                  GError **error)
{
        NettraceCursor cursor = nettrace_cursor(block->bytes, block->n_bytes);

        while (nettrace_left(&cursor)) {
                uint64_t thread = nettrace_varint(&cursor);
                uint32_t sequence = nettrace_varint32(&cursor);
                NettraceLoss loss;

                if (cursor.is_short)
                        return reader_fail(error, block->offset, "a list of threads is cut off");
                /* The block has no time. */
                if (nettrace_threads_check(&reader->threads, thread, sequence,
                                           MAX(reader->latest, reader->horizon),
                                           &loss) == NETTRACE_COUNT_LOSS)
                        reader_lose(reader, &loss);
                nettrace_threads_remove(&reader->threads, thread);
        }
        return true;
}

static bool reader_take_header(NettraceReader *reader, const NettraceBlock *block, GError **error)
{
        NettraceHeader header;

        if (!nettrace_header_read(block, reader->framing.version, &header))
                return reader_fail(error, block->offset, "a malformed header");
        if (reader->has_header &&
            memcmp(header.digest, reader->header.digest, sizeof(header.digest)) != 0)
                return reader_fail(error, block->offset, "a second header");
        reader->header = header;
        reader->header.begin -= (uint64_t)reader->ahead;
        reader->has_header = true;
        reader->threads.begin = reader->header.begin;
        return true;
}

static bool reader_take_block(NettraceReader *reader, const NettraceBlock *block, GError **error)
{
        if (block->kind != NETTRACE_BLOCK_TRACE && !reader->has_header)
                return reader_fail(error, block->offset, "the header is not first");
        reader_promise(reader, reader->point);
        switch (block->kind) {
        case NETTRACE_BLOCK_TRACE:
                return reader_take_header(reader, block, error);
        case NETTRACE_BLOCK_EVENT:
                return reader_take_event_block(reader, block, error);
        case NETTRACE_BLOCK_METADATA:
                return nettrace_metadata_take(&reader->metadata, block, reader->header.version) ||
                       reader_fail(error, block->offset, "the description of an event");
        case NETTRACE_BLOCK_SEQUENCE_POINT:
                return reader_take_point(reader, block, error);
        case NETTRACE_BLOCK_THREAD:
                return nettrace_threads_describe(&reader->threads,
                                                 nettrace_cursor(block->bytes, block->n_bytes)) ||
                       reader_fail(error, block->offset, "the description of a thread");
        case NETTRACE_BLOCK_REMOVE_THREAD:
                return reader_remove_threads(reader, block, error);
        case NETTRACE_BLOCK_STACK:
                return !(reader->take_sample || reader->take_universal) ||
                       nettrace_stacks_take(&reader->stacks, block, reader->header.pointer_size) ||
                       reader_fail(error, block->offset, "a malformed stack");
        case NETTRACE_BLOCK_LABEL_LIST:
        case NETTRACE_BLOCK_OTHER:
        case NETTRACE_BLOCK_END:
                break;
        }
        return true;
}

bool nettrace_reader_push(NettraceReader *reader, const uint8_t *bytes, size_t n, GError **error)
{
        NettraceBlock block;

        nettrace_framing_push(&reader->framing, bytes, n);
        for (;;) {
                switch (nettrace_framing_next(&reader->framing, &block, error)) {
                case NETTRACE_FRAME_BLOCK:
                        if (!reader_take_block(reader, &block, error))
                                return false;
                        break;
                case NETTRACE_FRAME_END:
                        /*
                         * The whole session has been written. The sequence point before the end
                         * promises nothing: an exiting runtime writes it some ms after the session
                         * was shut down, and its background thread compiles meanwhile.
                         */
                        reader_promise(reader, reader->latest);
                        /* fallthrough */
                case NETTRACE_FRAME_MORE:
                        if (reader->queue.n_bytes > reader->max_queued)
                                reader_promise(reader, reader->queue.latest + 1);
                        nettrace_queue_advance(&reader->queue, reader->horizon);
                        return true;
                case NETTRACE_FRAME_ERROR:
                        return false;
                }
        }
}

void nettrace_reader_finish(NettraceReader *reader)
{
        const NettraceLoss torn = {MAX(reader->horizon, reader->header.begin), reader->latest,
                                   GAP_COUNT_UNKNOWN};

        if (reader->is_finished)
                return;
        reader->is_finished = true;
        /* A killed runtime may have written only a part of its last flush. */
        if (!reader->framing.has_ended && reader->latest > torn.begin)
                reader_lose(reader, &torn);
        nettrace_queue_flush(&reader->queue);
}

/* An earlier version of the same event with a row, or NULL. */
static const Event *event_before(const Event *event)
{
        unsigned version;

        for (version = event->version; version-- > 0;) {
                const Event *before = event_by_id(event->provider, event->id, version);

                if (before)
                        return before;
        }
        return NULL;
}

/* If the stream has no version: the latest version that takes exactly the payload's bytes. */
static bool reader_decode(NettraceReader *reader, const NettraceQueued *queued, Record *record)
{
        const uint8_t *payload = nettrace_queued_payload(queued);
        const Event *event = queued->event;
        DecodeResult result;

        do {
                decode_scratch_reset(&reader->scratch);
                result = event_is_compact(event)
                                 ? compact_decode(event, payload, queued->n_payload,
                                                  &reader->scratch, record)
                                 : packed_decode(event, queued->is_later, payload,
                                                 queued->n_payload, &reader->scratch, record);
        } while (result != DECODE_OK && !queued->has_version && (event = event_before(event)));
        queued->counts->n_results[result]++;
        return result == DECODE_OK;
}

NettraceItem nettrace_reader_next(NettraceReader *reader, Record *ret_record, StreamGap *ret_gap)
{
        const NettraceQueued *queued;

        for (;;) {
                switch (nettrace_queue_next(&reader->queue, &queued, ret_gap)) {
                case NETTRACE_QUEUE_NONE:
                        return NETTRACE_ITEM_NONE;
                case NETTRACE_QUEUE_LOSS:
                        return NETTRACE_ITEM_GAP;
                case NETTRACE_QUEUE_EVENT:
                        break;
                }
                ret_record->time = queued->time;
                ret_record->process = (ProcessKey){.pid = queued->pid};
                ret_record->tid = queued->tid;
                ret_record->program = (Value){0};
                if (reader_decode(reader, queued, ret_record))
                        return NETTRACE_ITEM_RECORD;
        }
}

const NettraceHeader *nettrace_reader_header(const NettraceReader *reader)
{
        return reader->has_header ? &reader->header : NULL;
}

uint64_t nettrace_reader_horizon(const NettraceReader *reader)
{
        return reader->horizon;
}

uint64_t nettrace_reader_waiting(const NettraceReader *reader)
{
        return nettrace_queue_waiting(&reader->queue);
}

size_t nettrace_reader_n_bytes(const NettraceReader *reader)
{
        return reader->queue.n_bytes;
}

bool nettrace_reader_is_complete(const NettraceReader *reader)
{
        return reader->framing.has_ended;
}

void nettrace_reader_report(const NettraceReader *reader, FeederReport *ret_report)
{
        event_counts_report(reader->counts, reader->n_events, ret_report);
        ret_report->decode_errors += reader->n_unattributed + reader->n_unannounced;
}

GHashTable *nettrace_reader_counts(const NettraceReader *reader)
{
        return reader->counts;
}
