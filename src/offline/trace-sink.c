/* SPDX-License-Identifier: MIT */
#include "offline/trace-sink.h"

#include "wire/ingest-client.h"
#include "wire/program-names.h"

#include <glib.h>

struct TraceSink {
        char *path;           /* owned */
        Tracker *tracker;     /* borrowed */
        GPtrArray *streams;   /* owned, of borrowed TrackerStreams by number; NULL: not open */
        uint64_t n_too_large; /* records that are too large for a frame */
        ProgramNames programs;

        /* The frames of a snapshot, batch by batch: a batch never ends between equal times. */
        SnapshotWriter *writer; /* borrowed; NULL: nothing is saved */
        GByteArray *batch;      /* owned */
        int64_t last_order;     /* of the last record in the batch */
};

/* Puts a frame into the batch, if there is a snapshot. */
#define PUT(sink, frame, ...)                                                                      \
        do {                                                                                       \
                if ((sink)->writer)                                                                \
                        ingest_put_##frame((sink)->batch, __VA_ARGS__);                            \
        } while (0)

TraceSink *trace_sink_new(const char *path, Tracker *tracker)
{
        TraceSink *sink = g_new0(TraceSink, 1);

        sink->path = g_strdup(path);
        sink->tracker = tracker;
        sink->streams = g_ptr_array_new();
        sink->batch = g_byte_array_new();
        return sink;
}

void trace_sink_free(TraceSink *sink)
{
        if (!sink)
                return;
        g_ptr_array_unref(sink->streams);
        g_byte_array_unref(sink->batch);
        program_names_clear(&sink->programs);
        g_free(sink->path);
        g_free(sink);
}

static bool trace_sink_fail(const TraceSink *sink, GError **error, const char *what)
{
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", sink->path, what);
        return false;
}

void trace_sink_save(TraceSink *sink, SnapshotWriter *writer)
{
        sink->writer = writer;
        ingest_put_hello(sink->batch, INGEST_VERSION, "clrsym " CLRSYM_VERSION);
}

/* NULL: the stream is not open. */
static TrackerStream *trace_sink_stream(const TraceSink *sink, uint32_t number)
{
        return number < sink->streams->len ? sink->streams->pdata[number] : NULL;
}

static bool trace_sink_open(TraceSink *sink, const EventItem *item, GError **error)
{
        if (sink->writer && item->stream >= INGEST_MAX_STREAMS)
                return trace_sink_fail(sink, error,
                                       "more than 4096 streams: a snapshot has at most that many. "
                                       "Name a directory with fewer traces");
        if (item->stream >= sink->streams->len)
                g_ptr_array_set_size(sink->streams, (gint)item->stream + 1);
        sink->streams->pdata[item->stream] = tracker_stream_open(sink->tracker, item->identity);
        PUT(sink, stream_open, item->stream, item->identity);
        return true;
}

/* Ends the batch. */
static bool trace_sink_commit(TraceSink *sink, GError **error)
{
        bool ok;

        tracker_commit(sink->tracker);
        if (!sink->writer)
                return true;
        ingest_put_empty(sink->batch, INGEST_COMMIT);
        ok = snapshot_writer_add(sink->writer, sink->batch->data, sink->batch->len, error);
        g_byte_array_set_size(sink->batch, 0);
        return ok;
}

/* Makes room for a record in the snapshot. */
static bool trace_sink_next_batch(TraceSink *sink, int64_t order, GError **error)
{
        if (sink->batch->len >= INGEST_CLIENT_BATCH_SIZE && order > sink->last_order &&
            !trace_sink_commit(sink, error))
                return false;
        sink->last_order = order;
        return sink->batch->len <= INGEST_MAX_BATCH ||
               trace_sink_fail(sink, error,
                               "more than 64 MiB of events have the same time: the trace's clock "
                               "does not work");
}

static void trace_sink_program(TraceSink *sink, TrackerStream *stream, uint32_t number,
                               const Record *record)
{
        tracker_apply_program(sink->tracker, stream, record);
        PUT(sink, program, number, record);
}

static bool trace_sink_record(TraceSink *sink, TrackerStream *stream, const EventItem *item,
                              GError **error)
{
        const Record *record = &item->record;

        if (sink->writer && !trace_sink_next_batch(sink, item->order, error))
                return false;
        if (item->type == EVENT_ITEM_PROGRAM) {
                trace_sink_program(sink, stream, item->stream, record);
                return true;
        }
        /* The ingest protocol cannot carry this record, so it is dropped. So reading a trace gives
         * the same answers as feeding it. */
        if (!ingest_record_fits(record)) {
                sink->n_too_large++;
                return true;
        }
        tracker_apply_record(sink->tracker, stream, record);
        PUT(sink, record, item->stream, record);
        if (program_names_note(&sink->programs, record))
                trace_sink_program(sink, stream, item->stream, record);
        return true;
}

/* Skips items of streams that are not open. */
bool trace_sink_take(TraceSink *sink, const EventItem *item, GError **error)
{
        TrackerStream *stream = trace_sink_stream(sink, item->stream);

        if (item->type == EVENT_ITEM_OPEN)
                return trace_sink_open(sink, item, error);
        if (item->type == EVENT_ITEM_PROCESS_GAP) {
                tracker_apply_process_gap(sink->tracker, &item->process_gap);
                PUT(sink, process_gap, &item->process_gap);
                return true;
        }
        if (!stream)
                return true;
        switch (item->type) {
        case EVENT_ITEM_RECORD:
        case EVENT_ITEM_PROGRAM:
                return trace_sink_record(sink, stream, item, error);
        case EVENT_ITEM_GAP:
                tracker_apply_gap(sink->tracker, stream, &item->gap);
                PUT(sink, gap, item->stream, &item->gap);
                break;
        case EVENT_ITEM_PROGRESS:
                tracker_apply_progress(sink->tracker, stream, item->time);
                PUT(sink, progress, item->stream, item->time);
                break;
        case EVENT_ITEM_CLOSE:
                tracker_stream_close(sink->tracker, stream);
                sink->streams->pdata[item->stream] = NULL;
                PUT(sink, stream_close, item->stream);
                break;
        case EVENT_ITEM_OPEN:
        case EVENT_ITEM_PROCESS_GAP:
                break;
        }
        return true;
}

void trace_sink_report(const TraceSink *sink, FeederReport *report)
{
        report->decode_errors += sink->n_too_large;
}

bool trace_sink_end(TraceSink *sink, const FeederReport *report, GError **error)
{
        PUT(sink, report, report);
        return trace_sink_commit(sink, error);
}
