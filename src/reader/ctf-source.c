/* SPDX-License-Identifier: MIT */
#include "ctf/error.h"
#include "ctf/reader.h"
#include "reader/event-source.h"

#include <sys/stat.h>
#include <unistd.h>

/* Bytes of a packet that cost as much as one item, if none of its events is wanted. */
#define BYTES_AN_ITEM 64

/* A stream of the traces. */
typedef struct CtfTracesStream {
        uint32_t number;
        bool has_begun; /* its first time was reported */
        uint64_t end;   /* ns; end of its last packet; 0: not known */
} CtfTracesStream;

typedef struct CtfTraces {
        EventSource source;
        CtfReader *reader;        /* owned */
        CtfTracesStream *streams; /* owned: one for each stream of the reader */
        guint n_opened;           /* streams of which a batch has EVENT_ITEM_OPEN */
        CtfDataStream *pending;   /* borrowed: its item did not fit into the last batch; or NULL */
} CtfTraces;

static bool ctf_source_is(int fd, mode_t mode)
{
        return S_ISDIR(mode);
}

static void ctf_source_close(EventSource *data)
{
        CtfTraces *source = (CtfTraces *)data;

        ctf_reader_free(source->reader);
        g_free(source->streams);
        g_free(source);
}

static void ctf_source_explain(const char *path, GError **error)
{
        const GError *reason = *error;

        if (g_error_matches(reason, CTF_ERROR, CTF_ERROR_UNSUPPORTED)) {
                g_autofree char *text = g_strdup_printf(
                        "%s. If babeltrace2 can read the trace, this feeds it to a daemon: "
                        "babeltrace2 %s -c sink.clrsym.feed",
                        reason->message, path);

                g_clear_error(error);
                g_set_error_literal(error, CTF_ERROR, CTF_ERROR_UNSUPPORTED, text);
        }
        if (!g_str_has_prefix((*error)->message, path))
                g_prefix_error(error, "%s: ", path);
}

/* The reader opens the files by their paths. */
static EventSource *ctf_source_open(int fd, const char *path, EventUse use, GError **error)
{
        g_autoptr(GError) reason = NULL;
        const GPtrArray *streams;
        CtfTraces *source;
        CtfReader *reader;
        guint i;

        close(fd);
        reader = ctf_reader_new(path, use, &reason);
        if (!reader) {
                ctf_source_explain(path, &reason);
                g_propagate_error(error, g_steal_pointer(&reason));
                return NULL;
        }
        source = g_new0(CtfTraces, 1);
        source->source.type = &CTF_SOURCE;
        source->reader = reader;
        streams = ctf_reader_streams(reader);
        source->streams = g_new0(CtfTracesStream, streams->len);
        for (i = 0; i < streams->len; i++) {
                source->streams[i].number = i;
                ((CtfDataStream *)streams->pdata[i])->user = &source->streams[i];
        }
        return &source->source;
}

/* All streams with a clock are opened before the first event. False once the batch is full. */
static bool ctf_source_add_streams(CtfTraces *source, EventBatch *batch)
{
        const GPtrArray *streams = ctf_reader_streams(source->reader);

        for (; source->n_opened < streams->len; source->n_opened++) {
                const CtfDataStream *stream = streams->pdata[source->n_opened];

                if (event_batch_is_full(batch))
                        return false;
                if (stream->has_clock)
                        event_batch_add(batch, EVENT_ITEM_OPEN, source->n_opened, stream->identity);
        }
        return true;
}

static void ctf_source_add_begin(EventBatch *batch, const CtfDataStream *stream)
{
        CtfTracesStream *own = stream->user;

        if (own->has_begun)
                return;
        own->has_begun = true;
        event_batch_add_time(batch, EVENT_ITEM_PROGRESS, own->number, stream->identity,
                             stream->time);
}

static void ctf_source_add_end(EventBatch *batch, const CtfDataStream *stream)
{
        const CtfTracesStream *own = stream->user;

        if (own->end)
                event_batch_add_time(batch, EVENT_ITEM_PROGRESS, own->number, stream->identity,
                                     own->end);
        event_batch_add(batch, EVENT_ITEM_CLOSE, own->number, stream->identity);
}

/* The most bytes that the values of the event of STREAM take. */
static size_t ctf_source_event_size(const CtfDataStream *stream)
{
        size_t n_bytes = (size_t)(stream->cursor.at - stream->context_at) / 8 + 1;

        return ctf_layout_decode_size(stream->event, stream->slots) + n_bytes;
}

static void ctf_source_refuse(const CtfTraces *source, const CtfDataStream *stream,
                              CtfDecode outcome, GError **error)
{
        const char *session = ctf_reader_trace_name(source->reader, stream);
        g_autofree char *what = outcome == CTF_DECODE_NO_CLOCK
                                        ? stream_clockless_reason(session)
                                        : stream_unattributed_reason(session, session);

        g_set_error_literal(error, CTF_ERROR, CTF_ERROR_DAMAGED, g_strdelimit(what, "\n", ' '));
}

/* The outcome of taking an item. */
typedef enum CtfTake { CTF_TAKE_DONE, CTF_TAKE_NO_ROOM, CTF_TAKE_ERROR } CtfTake;

static CtfTake ctf_source_take_event(const CtfTraces *source, EventBatch *batch,
                                     CtfDataStream *stream, GError **error)
{
        const CtfTracesStream *own = stream->user;
        DecodeScratch scratch;
        CtfDecode outcome;
        EventItem *item;
        size_t size;

        if (!stream->has_clock) {
                ctf_source_refuse(source, stream, CTF_DECODE_NO_CLOCK, error);
                return CTF_TAKE_ERROR;
        }
        size = stream->event->event ? ctf_source_event_size(stream) : 0;
        if (!event_batch_reserve(batch, size))
                return CTF_TAKE_NO_ROOM;
        ctf_source_add_begin(batch, stream);
        if (!size)
                return CTF_TAKE_DONE;
        /* The scratch buffer has all its room already, so decoding does not move it. */
        scratch = (DecodeScratch){.bytes = batch->bytes + batch->n_bytes, .n_allocated = size};
        item = event_batch_add(batch, EVENT_ITEM_RECORD, own->number, stream->identity);
        item->order = stream->order;
        outcome = ctf_data_stream_decode(stream, &scratch, &item->record);
        if (outcome == CTF_DECODE_RECORD) {
                batch->n_bytes += scratch.n_bytes;
                /* Values in the stream's window are copied, because the window moves. */
                event_batch_keep(batch, &item->record);
                return CTF_TAKE_DONE;
        }
        batch->n_items--;
        if (outcome == CTF_DECODE_SKIPPED)
                return CTF_TAKE_DONE;
        ctf_source_refuse(source, stream, outcome, error);
        return CTF_TAKE_ERROR;
}

static CtfTake ctf_source_take(CtfTraces *source, EventBatch *batch, CtfDataStream *stream,
                               GError **error)
{
        CtfTracesStream *own = stream->user;
        const CtfPacket *packet = &stream->packet;

        batch->weight++;
        switch (stream->item) {
        case CTF_ITEM_EVENT:
                return ctf_source_take_event(source, batch, stream, error);
        case CTF_ITEM_DISCARDED_EVENTS:
        case CTF_ITEM_DISCARDED_PACKETS:
                event_batch_add(batch, EVENT_ITEM_GAP, own->number, stream->identity)->gap =
                        stream->gap;
                break;
        case CTF_ITEM_PACKET_BEGIN:
                if (packet->has_begin)
                        ctf_source_add_begin(batch, stream);
                break;
        case CTF_ITEM_PACKET_END:
                if (packet->has_end)
                        own->end = MAX(own->end, stream->time);
                batch->weight += packet->content_size / 8 / BYTES_AN_ITEM;
                break;
        case CTF_ITEM_END:
                ctf_source_add_end(batch, stream);
                break;
        case CTF_ITEM_NONE: /* of streams without files only */
                break;
        }
        return CTF_TAKE_DONE;
}

static EventReadResult ctf_source_read(CtfTraces *source, EventBatch *batch, GError **error)
{
        while (!event_batch_is_full(batch)) {
                CtfDataStream *stream = g_steal_pointer(&source->pending);

                if (!stream)
                        switch (ctf_reader_next(source->reader, &stream, error)) {
                        case CTF_READ_ITEM:
                                break;
                        case CTF_READ_END:
                                return EVENT_READ_END;
                        case CTF_READ_ERROR:
                                return EVENT_READ_ERROR;
                        }
                switch (ctf_source_take(source, batch, stream, error)) {
                case CTF_TAKE_DONE:
                        break;
                case CTF_TAKE_NO_ROOM:
                        source->pending = stream;
                        return EVENT_READ_MORE;
                case CTF_TAKE_ERROR:
                        return EVENT_READ_ERROR;
                }
        }
        return EVENT_READ_MORE;
}

static EventReadResult ctf_source_fill(EventSource *data, EventBatch *batch, GError **error)
{
        CtfTraces *source = (CtfTraces *)data;
        EventReadResult result = EVENT_READ_MORE;

        if (ctf_source_add_streams(source, batch))
                result = ctf_source_read(source, batch, error);
        batch->n_read = ctf_reader_n_read(source->reader);
        return result;
}

static uint64_t ctf_source_n_bytes(const EventSource *data)
{
        return ctf_reader_n_bytes(((const CtfTraces *)data)->reader);
}

static void ctf_source_report(const EventSource *data, FeederReport *ret_report)
{
        ctf_reader_report(((const CtfTraces *)data)->reader, ret_report);
}

static GHashTable *ctf_source_counts(const EventSource *data)
{
        return ctf_reader_counts(((const CtfTraces *)data)->reader);
}

const EventSourceType CTF_SOURCE = {
        .is = ctf_source_is,
        .open = ctf_source_open,
        .close = ctf_source_close,
        .fill = ctf_source_fill,
        .n_bytes = ctf_source_n_bytes,
        .report = ctf_source_report,
        .counts = ctf_source_counts,
};
