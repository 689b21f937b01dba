/* SPDX-License-Identifier: MIT */
#include "nettrace/file.h"
#include "reader/event-source.h"

#include <sys/stat.h>

/* Pieces of the file for a batch: with few wanted events, progress is still reported. */
#define PIECES_A_BATCH 8
/* The number of the only stream. */
#define STREAM 0

typedef struct NettraceSource {
        EventSource source;
        NettraceFile file;
        NettraceReader *reader;    /* owned */
        NettraceFileResult result; /* of the file's last piece */
        StreamIdentity *identity;  /* owned; NULL: the header has not come yet */
        NettraceItem pending;      /* an item that did not fit into the last batch; or NONE */
        Record record;             /* of the pending item */
        StreamGap gap;             /* of the pending item */
} NettraceSource;

static bool nettrace_source_is(int fd, mode_t mode)
{
        return S_ISREG(mode) && nettrace_file_is(fd);
}

static void nettrace_source_close(EventSource *data)
{
        NettraceSource *source = (NettraceSource *)data;

        nettrace_file_deinit(&source->file);
        nettrace_reader_free(source->reader);
        stream_identity_free(source->identity);
        g_free(source);
}

static EventSource *nettrace_source_open(int fd, const char *path, EventUse use, GError **error)
{
        NettraceSource *source = g_new0(NettraceSource, 1);

        source->source.type = &NETTRACE_SOURCE;
        source->reader = nettrace_reader_new(use);
        source->file.fd = -1;
        if (!nettrace_file_init(&source->file, fd, error)) {
                g_prefix_error(error, "%s: ", path);
                nettrace_source_close(&source->source);
                return NULL;
        }
        return &source->source;
}

/* The stream begins with the session. */
static void nettrace_source_begin(NettraceSource *source, EventBatch *batch)
{
        const NettraceHeader *header = nettrace_reader_header(source->reader);

        if (source->identity || !header)
                return;
        source->identity = nettrace_header_identity(header);
        event_batch_add(batch, EVENT_ITEM_OPEN, STREAM, source->identity);
        event_batch_add_time(batch, EVENT_ITEM_PROGRESS, STREAM, source->identity, header->begin);
}

/* The stream is complete up to the last sequence point, which may be before the exit of the
 * process. */
static void nettrace_source_end(const NettraceSource *source, EventBatch *batch)
{
        if (!source->identity)
                return;
        event_batch_add_time(batch, EVENT_ITEM_PROGRESS, STREAM, source->identity,
                             nettrace_reader_horizon(source->reader));
        event_batch_add(batch, EVENT_ITEM_CLOSE, STREAM, source->identity);
}

/* Goes to the next item. False: there is none now. */
static bool nettrace_source_next(NettraceSource *source)
{
        if (source->pending == NETTRACE_ITEM_NONE)
                source->pending =
                        nettrace_reader_next(source->reader, &source->record, &source->gap);
        return source->pending != NETTRACE_ITEM_NONE;
}

/* Takes items until the batch is full (true), or the reader is empty. */
static bool nettrace_source_take(NettraceSource *source, EventBatch *batch)
{
        while (!event_batch_is_full(batch) && nettrace_source_next(source)) {
                bool is_record = source->pending == NETTRACE_ITEM_RECORD;
                EventItem *item;

                if (is_record &&
                    !event_batch_reserve(batch, event_batch_record_size(&source->record)))
                        return true;
                item = event_batch_add(batch, is_record ? EVENT_ITEM_RECORD : EVENT_ITEM_GAP,
                                       STREAM, source->identity);
                if (is_record) {
                        item->record = source->record;
                        item->order = (int64_t)item->record.time;
                        event_batch_keep(batch, &item->record);
                } else {
                        item->gap = source->gap;
                }
                source->pending = NETTRACE_ITEM_NONE;
        }
        return event_batch_is_full(batch);
}

static EventReadResult nettrace_source_fill(EventSource *data, EventBatch *batch, GError **error)
{
        NettraceSource *source = (NettraceSource *)data;
        unsigned n_pieces = 0;
        bool is_full;

        while (!(is_full = nettrace_source_take(source, batch)) && n_pieces++ < PIECES_A_BATCH &&
               source->result == NETTRACE_FILE_MORE) {
                source->result = nettrace_file_push(&source->file, source->reader, error);
                nettrace_source_begin(source, batch);
        }
        batch->n_read = source->file.n_read;
        /* A batch with few items costs as much as a full one. */
        batch->weight = MAX(batch->weight, EVENT_BATCH_ITEMS);
        if (is_full || source->result == NETTRACE_FILE_MORE)
                return EVENT_READ_MORE;
        if (source->result == NETTRACE_FILE_ERROR)
                return EVENT_READ_ERROR;
        nettrace_source_end(source, batch);
        return EVENT_READ_END;
}

static uint64_t nettrace_source_n_bytes(const EventSource *data)
{
        return ((const NettraceSource *)data)->file.size;
}

static void nettrace_source_report(const EventSource *data, FeederReport *ret_report)
{
        nettrace_reader_report(((const NettraceSource *)data)->reader, ret_report);
}

static GHashTable *nettrace_source_counts(const EventSource *data)
{
        return nettrace_reader_counts(((const NettraceSource *)data)->reader);
}

const EventSourceType NETTRACE_SOURCE = {
        .is = nettrace_source_is,
        .open = nettrace_source_open,
        .close = nettrace_source_close,
        .fill = nettrace_source_fill,
        .n_bytes = nettrace_source_n_bytes,
        .report = nettrace_source_report,
        .counts = nettrace_source_counts,
};
