/* SPDX-License-Identifier: MIT */
#include "offline/trace-ctf.h"

#include "ctf/reader.h"
#include "wire/ingest-client.h"

#include <gio/gio.h>

/* Items that are read before others have their turn. */
#define ITEMS_A_PIECE 8192
/* Bytes of a packet that take as long as one item, if none of its events is wanted. */
#define BYTES_AN_ITEM 64

/* A stream of the trace, as the tracker and the snapshot have it. */
typedef struct TraceStream {
        TrackerStream *tracked; /* borrowed; NULL: it has no clock */
        uint32_t number;        /* in the snapshot */
        bool has_begun;         /* the tracker knows where it begins */
        uint64_t end;           /* of its last packet; 0: not known */
} TraceStream;

struct TraceCtf {
        char *directory;      /* owned */
        CtfReader *reader;    /* owned */
        Tracker *tracker;     /* borrowed */
        TraceStream *streams; /* owned: one for each of the reader's */
        uint32_t n_streams;   /* that have a number */
        uint64_t n_too_large; /* records that no frame can hold */

        /* The frames of a snapshot, batch by batch: a batch never ends between equal times. */
        SnapshotWriter *writer; /* borrowed; NULL: nothing is saved */
        GByteArray *batch;      /* owned */
        int64_t last_order;     /* of the last record in the batch */
};

/* Puts a frame into the batch, if there is a snapshot. */
#define PUT(ctf, frame, ...)                                                                       \
        do {                                                                                       \
                if ((ctf)->writer)                                                                 \
                        ingest_put_##frame((ctf)->batch, __VA_ARGS__);                             \
        } while (0)

static bool trace_ctf_fail(const TraceCtf *ctf, GError **error, const char *what)
{
        g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s: %s", ctf->directory, what);
        return false;
}

/* The reader's errors begin with a path where they are about a file. */
static bool trace_ctf_fail_reader(const TraceCtf *ctf, GError **error)
{
        if (!g_str_has_prefix((*error)->message, ctf->directory))
                g_prefix_error(error, "%s: ", ctf->directory);
        return false;
}

static bool trace_ctf_open(TraceCtf *ctf, bool jit_events, GError **error)
{
        const GPtrArray *streams;
        uint32_t number = 0;
        guint i;

        ctf->reader = ctf_reader_new(ctf->directory,
                                     jit_events ? EVENT_USE_JIT : EVENT_USE_CODE_MAPS, error);
        if (!ctf->reader)
                return trace_ctf_fail_reader(ctf, error);
        streams = ctf_reader_streams(ctf->reader);
        ctf->streams = g_new0(TraceStream, streams->len);
        for (i = 0; i < streams->len; i++) {
                CtfDataStream *stream = streams->pdata[i];
                TraceStream *own = &ctf->streams[i];

                stream->user = own;
                if (!stream->has_clock)
                        continue;
                own->tracked = tracker_stream_open(ctf->tracker, stream->identity);
                own->number = number++;
        }
        ctf->n_streams = number;
        return true;
}

TraceCtf *trace_ctf_new(const char *directory, bool jit_events, Tracker *tracker, GError **error)
{
        TraceCtf *ctf = g_new0(TraceCtf, 1);
        g_autoptr(GError) reason = NULL;

        ctf->directory = g_strdup(directory);
        ctf->tracker = tracker;
        ctf->batch = g_byte_array_new();
        if (!trace_ctf_open(ctf, jit_events, &reason)) {
                g_propagate_error(error, g_steal_pointer(&reason));
                trace_ctf_free(ctf);
                return NULL;
        }
        return ctf;
}

void trace_ctf_free(TraceCtf *ctf)
{
        if (!ctf)
                return;
        ctf_reader_free(ctf->reader);
        g_byte_array_unref(ctf->batch);
        g_free(ctf->streams);
        g_free(ctf->directory);
        g_free(ctf);
}

bool trace_ctf_save(TraceCtf *ctf, SnapshotWriter *writer, GError **error)
{
        const GPtrArray *streams = ctf_reader_streams(ctf->reader);
        guint i;

        if (ctf->n_streams > INGEST_MAX_STREAMS)
                return trace_ctf_fail(ctf, error,
                                      "more than 4096 streams: a snapshot has at most that many. "
                                      "Name a directory with fewer traces");
        ctf->writer = writer;
        ingest_put_hello(ctf->batch, INGEST_VERSION, "clrsym " CLRSYM_VERSION);
        for (i = 0; i < streams->len; i++)
                if (ctf->streams[i].tracked)
                        ingest_put_stream_open(ctf->batch, ctf->streams[i].number,
                                               ((CtfDataStream *)streams->pdata[i])->identity);
        return true;
}

/* Ends the batch. */
static bool trace_ctf_commit(TraceCtf *ctf, GError **error)
{
        bool ok;

        tracker_commit(ctf->tracker);
        if (!ctf->writer)
                return true;
        ingest_put_empty(ctf->batch, INGEST_COMMIT);
        ok = snapshot_writer_add(ctf->writer, ctf->batch->data, ctf->batch->len, error);
        g_byte_array_set_size(ctf->batch, 0);
        return ok;
}

/* Makes room for a record in the snapshot. */
static bool trace_ctf_next_batch(TraceCtf *ctf, int64_t order, GError **error)
{
        if (ctf->batch->len >= INGEST_CLIENT_BATCH_SIZE && order > ctf->last_order &&
            !trace_ctf_commit(ctf, error))
                return false;
        ctf->last_order = order;
        return ctf->batch->len <= INGEST_MAX_BATCH ||
               trace_ctf_fail(ctf, error,
                              "more than 64 MiB of events have the same time: the trace's clock "
                              "does not work");
}

static void trace_ctf_begin_stream(TraceCtf *ctf, TraceStream *own, uint64_t time)
{
        if (own->has_begun || !own->tracked)
                return;
        own->has_begun = true;
        tracker_apply_progress(ctf->tracker, own->tracked, time);
        PUT(ctf, progress, own->number, time);
}

static void trace_ctf_end_stream(TraceCtf *ctf, TraceStream *own)
{
        if (!own->tracked)
                return;
        if (own->end) {
                tracker_apply_progress(ctf->tracker, own->tracked, own->end);
                PUT(ctf, progress, own->number, own->end);
        }
        tracker_stream_close(ctf->tracker, own->tracked);
        PUT(ctf, stream_close, own->number);
}

static bool trace_ctf_refuse(const TraceCtf *ctf, const CtfDataStream *stream, CtfDecode outcome,
                             GError **error)
{
        const char *session = ctf_reader_trace_name(ctf->reader, stream);
        g_autofree char *what = outcome == CTF_DECODE_NO_CLOCK
                                        ? stream_clockless_reason(session)
                                        : stream_unattributed_reason(session, session);

        return trace_ctf_fail(ctf, error, g_strdelimit(what, "\n", ' '));
}

static bool trace_ctf_take_event(TraceCtf *ctf, CtfDataStream *stream, GError **error)
{
        TraceStream *own = stream->user;
        CtfDecode outcome;
        Record record;

        trace_ctf_begin_stream(ctf, own, stream->time);
        outcome = ctf_reader_decode(ctf->reader, stream, &record);
        if (outcome == CTF_DECODE_SKIPPED)
                return true;
        if (outcome != CTF_DECODE_RECORD)
                return trace_ctf_refuse(ctf, stream, outcome, error);
        if (ctf->writer && !trace_ctf_next_batch(ctf, stream->order, error))
                return false;
        /* What no feeder can send the tracker does not get either, so that both ways are equal. */
        if (!ingest_record_fits(&record)) {
                ctf->n_too_large++;
                return true;
        }
        tracker_apply_record(ctf->tracker, own->tracked, &record);
        PUT(ctf, record, own->number, &record);
        return true;
}

static bool trace_ctf_take(TraceCtf *ctf, CtfDataStream *stream, GError **error)
{
        TraceStream *own = stream->user;

        switch (stream->item) {
        case CTF_ITEM_EVENT:
                return trace_ctf_take_event(ctf, stream, error);
        case CTF_ITEM_DISCARDED_EVENTS:
        case CTF_ITEM_DISCARDED_PACKETS:
                if (own->tracked) {
                        tracker_apply_gap(ctf->tracker, own->tracked, &stream->gap);
                        PUT(ctf, gap, own->number, &stream->gap);
                }
                break;
        case CTF_ITEM_PACKET_BEGIN:
                if (stream->packet.has_begin)
                        trace_ctf_begin_stream(ctf, own, stream->time);
                break;
        case CTF_ITEM_PACKET_END:
                if (stream->packet.has_end)
                        own->end = MAX(own->end, stream->time);
                break;
        case CTF_ITEM_END:
                trace_ctf_end_stream(ctf, own);
                break;
        case CTF_ITEM_NONE: /* of streams without files only */
                break;
        }
        return true;
}

static bool trace_ctf_end(TraceCtf *ctf, GError **error)
{
        FeederReport report;

        trace_ctf_report(ctf, &report);
        PUT(ctf, report, &report);
        return trace_ctf_commit(ctf, error);
}

TraceCtfResult trace_ctf_run(TraceCtf *ctf, GError **error)
{
        uint64_t n_items = 0;

        while (n_items < ITEMS_A_PIECE) {
                CtfDataStream *stream;

                switch (ctf_reader_next(ctf->reader, &stream, error)) {
                case CTF_READ_ITEM:
                        n_items += stream->item == CTF_ITEM_PACKET_END
                                           ? stream->packet.content_size / 8 / BYTES_AN_ITEM
                                           : 1;
                        if (!trace_ctf_take(ctf, stream, error))
                                return TRACE_CTF_ERROR;
                        break;
                case CTF_READ_END:
                        return trace_ctf_end(ctf, error) ? TRACE_CTF_END : TRACE_CTF_ERROR;
                case CTF_READ_ERROR:
                        trace_ctf_fail_reader(ctf, error);
                        return TRACE_CTF_ERROR;
                }
        }
        return TRACE_CTF_MORE;
}

void trace_ctf_report(const TraceCtf *ctf, FeederReport *ret_report)
{
        ctf_reader_report(ctf->reader, ret_report);
        ret_report->decode_errors += ctf->n_too_large;
}

void trace_ctf_progress(const TraceCtf *ctf, uint64_t *ret_read, uint64_t *ret_total)
{
        ctf_reader_progress(ctf->reader, ret_read, ret_total);
}
