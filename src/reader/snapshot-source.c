/* SPDX-License-Identifier: MIT */
#include "reader/event-source.h"
#include "wire/ingest.h"
#include "wire/snapshot.h"

#include <errno.h>
#include <sys/stat.h>

/* Streams of a snapshot, including closed ones. clrsym saves INGEST_MAX_STREAMS at most. */
#define MAX_IDENTITIES (1u << 16)
/* Pieces of the file for a batch, even if they have few events. */
#define PIECES_A_BATCH 4

typedef struct SnapshotSource {
        EventSource source;
        SnapshotReader *reader; /* owned */
        uint64_t size;          /* of the file, in bytes */
        bool has_hello;         /* the first frame has come */
        GByteArray *input;      /* owned: unpacked bytes */
        size_t n_taken;         /* bytes of INPUT that were taken, whole frames */
        int64_t n_commits;
        GPtrArray *streams;    /* borrowed StreamIdentities by number; NULL: closed */
        GPtrArray *identities; /* owned: all identities so far */
        FeederReport report;
} SnapshotSource;

/* Opening reports what is wrong with another file. */
static bool snapshot_source_is(int fd, mode_t mode)
{
        return S_ISREG(mode);
}

static void snapshot_source_close(EventSource *data)
{
        SnapshotSource *source = (SnapshotSource *)data;

        snapshot_reader_free(source->reader);
        g_byte_array_unref(source->input);
        g_ptr_array_unref(source->streams);
        g_ptr_array_unref(source->identities);
        g_free(source);
}

static void identity_free(void *identity)
{
        stream_identity_free(identity);
}

static EventSource *snapshot_source_open(int fd, const char *path, EventUse use, GError **error)
{
        SnapshotReader *reader = snapshot_reader_new(fd, path, use == EVENT_USE_JIT, error);
        SnapshotSource *source;
        uint64_t n_read;

        if (!reader)
                return NULL;
        source = g_new0(SnapshotSource, 1);
        source->source.type = &SNAPSHOT_SOURCE;
        source->reader = reader;
        snapshot_reader_progress(reader, &n_read, &source->size);
        source->input = g_byte_array_new();
        source->streams = g_ptr_array_new();
        source->identities = g_ptr_array_new_with_free_func(identity_free);
        return &source->source;
}

/* NULL: there is no such stream. */
static const StreamIdentity *snapshot_source_stream(const SnapshotSource *source, uint32_t number)
{
        return number < source->streams->len ? source->streams->pdata[number] : NULL;
}

static int snapshot_source_take_open(SnapshotSource *source, EventBatch *batch,
                                     const IngestFrame *frame)
{
        StreamIdentity *identity = stream_identity_new();
        GPtrArray *streams = source->streams;
        uint32_t number;
        int r = ingest_get_stream_open(frame, &number, identity);

        g_ptr_array_add(source->identities, identity);
        if (r < 0 || source->identities->len > MAX_IDENTITIES || number > streams->len ||
            number >= INGEST_MAX_STREAMS || snapshot_source_stream(source, number))
                return -EBADMSG;
        if (number == streams->len)
                g_ptr_array_add(streams, NULL);
        streams->pdata[number] = identity;
        event_batch_add(batch, EVENT_ITEM_OPEN, number, identity);
        return 0;
}

/* 0, also for an event that this build does not know; or -EBADMSG. */
static int snapshot_source_take_record(const SnapshotSource *source, EventBatch *batch,
                                       const IngestFrame *frame)
{
        EventItemType type = EVENT_ITEM_RECORD;
        const StreamIdentity *identity;
        uint32_t number;
        EventItem *item;
        Record record;
        int r = ingest_get_record(frame, &number, &record);

        if (r == -ENOENT) {
                type = EVENT_ITEM_PROGRAM;
                r = ingest_get_program(frame, &number, &record);
        }
        if (r == -ENOENT)
                return 0;
        identity = r == 0 ? snapshot_source_stream(source, number) : NULL;
        if (!identity)
                return -EBADMSG;
        item = event_batch_add(batch, type, number, identity);
        item->record = record;
        /* The feeder has divided batches only where that is allowed. */
        item->order = source->n_commits;
        event_batch_keep(batch, &item->record);
        return 0;
}

static int snapshot_source_take_gap(const SnapshotSource *source, EventBatch *batch,
                                    const IngestFrame *frame)
{
        const StreamIdentity *identity;
        uint32_t number;
        StreamGap gap;

        if (ingest_get_gap(frame, &number, &gap) < 0 ||
            !(identity = snapshot_source_stream(source, number)))
                return -EBADMSG;
        event_batch_add(batch, EVENT_ITEM_GAP, number, identity)->gap = gap;
        return 0;
}

static int snapshot_source_take_progress(const SnapshotSource *source, EventBatch *batch,
                                         const IngestFrame *frame)
{
        const StreamIdentity *identity;
        uint32_t number;
        uint64_t time;

        if (ingest_get_stream_time(frame, &number, &time) < 0 ||
            !(identity = snapshot_source_stream(source, number)))
                return -EBADMSG;
        event_batch_add_time(batch, EVENT_ITEM_PROGRESS, number, identity, time);
        return 0;
}

static int snapshot_source_take_close(SnapshotSource *source, EventBatch *batch,
                                      const IngestFrame *frame)
{
        const StreamIdentity *identity;
        uint32_t number;

        if (ingest_get_stream_close(frame, &number) < 0 ||
            !(identity = snapshot_source_stream(source, number)))
                return -EBADMSG;
        source->streams->pdata[number] = NULL;
        event_batch_add(batch, EVENT_ITEM_CLOSE, number, identity);
        return 0;
}

static int snapshot_source_take_process_gap(EventBatch *batch, const IngestFrame *frame)
{
        ProcessGap gap;

        if (ingest_get_process_gap(frame, &gap) < 0)
                return -EBADMSG;
        event_batch_add(batch, EVENT_ITEM_PROCESS_GAP, 0, NULL)->process_gap = gap;
        return 0;
}

/* 0, or -EBADMSG: a snapshot cannot have that frame there. */
static int snapshot_source_take_frame(SnapshotSource *source, EventBatch *batch,
                                      const IngestFrame *frame)
{
        uint32_t version;

        if (!source->has_hello) {
                source->has_hello = true;
                return frame->type == INGEST_HELLO && ingest_get_hello(frame, &version) == 0 &&
                                       version == INGEST_VERSION
                               ? 0
                               : -EBADMSG;
        }
        switch ((int)frame->type) {
        case INGEST_STREAM_OPEN:
                return snapshot_source_take_open(source, batch, frame);
        case INGEST_RECORD:
                return snapshot_source_take_record(source, batch, frame);
        case INGEST_GAP:
                return snapshot_source_take_gap(source, batch, frame);
        case INGEST_PROGRESS:
                return snapshot_source_take_progress(source, batch, frame);
        case INGEST_STREAM_CLOSE:
                return snapshot_source_take_close(source, batch, frame);
        case INGEST_PROCESS_GAP:
                return snapshot_source_take_process_gap(batch, frame);
        case INGEST_REPORT:
                return ingest_get_report(frame, &source->report);
        case INGEST_COMMIT:
                source->n_commits++;
                return 0;
        default:
                return -EBADMSG;
        }
}

static EventReadResult snapshot_source_damaged(GError **error)
{
        g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, SNAPSHOT_DAMAGED);
        return EVENT_READ_ERROR;
}

/* Takes the unpacked frames. EVENT_READ_END: the batch is not full. */
static EventReadResult snapshot_source_take(SnapshotSource *source, EventBatch *batch,
                                            GError **error)
{
        while (!event_batch_is_full(batch)) {
                const size_t n_left = source->input->len - source->n_taken;
                IngestFrame frame;
                ssize_t n = n_left ? ingest_frame_next(source->input->data + source->n_taken,
                                                       n_left, &frame)
                                   : 0;

                if (n == 0)
                        return EVENT_READ_END;
                if (n < 0)
                        return snapshot_source_damaged(error);
                /* A value is not longer than its frame. */
                if (frame.type == INGEST_RECORD && !event_batch_reserve(batch, frame.n_payload))
                        return EVENT_READ_MORE;
                if (snapshot_source_take_frame(source, batch, &frame) < 0)
                        return snapshot_source_damaged(error);
                source->n_taken += (size_t)n;
        }
        return EVENT_READ_MORE;
}

/* Unpacks the next piece. False at the end, with or without ERROR set. */
static bool snapshot_source_unpack(SnapshotSource *source, GError **error)
{
        const uint8_t *bytes;
        ssize_t n = snapshot_reader_next(source->reader, &bytes, error);

        if (n <= 0)
                return false;
        g_byte_array_remove_range(source->input, 0, (guint)source->n_taken);
        source->n_taken = 0;
        g_byte_array_append(source->input, bytes, (guint)n);
        return true;
}

static EventReadResult snapshot_source_read(SnapshotSource *source, EventBatch *batch,
                                            GError **error)
{
        g_autoptr(GError) reason = NULL;
        unsigned n_pieces = 0;

        for (;;) {
                EventReadResult result = snapshot_source_take(source, batch, error);

                if (result != EVENT_READ_END)
                        return result;
                if (n_pieces++ == PIECES_A_BATCH)
                        return EVENT_READ_MORE;
                if (!snapshot_source_unpack(source, &reason))
                        break;
        }
        if (reason) {
                g_propagate_error(error, g_steal_pointer(&reason));
                return EVENT_READ_ERROR;
        }
        return source->n_taken == source->input->len ? EVENT_READ_END
                                                     : snapshot_source_damaged(error);
}

static EventReadResult snapshot_source_fill(EventSource *data, EventBatch *batch, GError **error)
{
        SnapshotSource *source = (SnapshotSource *)data;
        EventReadResult result = snapshot_source_read(source, batch, error);
        uint64_t size;

        snapshot_reader_progress(source->reader, &batch->n_read, &size);
        batch->weight = MAX(batch->n_items, EVENT_BATCH_ITEMS);
        return result;
}

static uint64_t snapshot_source_n_bytes(const EventSource *data)
{
        return ((const SnapshotSource *)data)->size;
}

static bool snapshot_source_has_jit_events(const EventSource *data)
{
        return snapshot_reader_has_jit_events(((const SnapshotSource *)data)->reader);
}

static void snapshot_source_report(const EventSource *data, FeederReport *ret_report)
{
        *ret_report = ((const SnapshotSource *)data)->report;
}

const EventSourceType SNAPSHOT_SOURCE = {
        .is = snapshot_source_is,
        .open = snapshot_source_open,
        .close = snapshot_source_close,
        .fill = snapshot_source_fill,
        .n_bytes = snapshot_source_n_bytes,
        .has_jit_events = snapshot_source_has_jit_events,
        .report = snapshot_source_report,
};
