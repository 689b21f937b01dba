/* SPDX-License-Identifier: MIT */
#include "offline/trace-sink.h"

#include "wire/ingest-client.h"
#include "wire/program-names.h"

#include <glib.h>

struct TraceSink {
        char *path;           /* owned */
        Tracker *tracker;     /* borrowed */
        GPtrArray *streams;   /* owned, of borrowed StreamIdentities: by number */
        uint64_t n_too_large; /* records that no frame can hold */
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

TraceSinkStream trace_sink_open(TraceSink *sink, const StreamIdentity *identity)
{
        TraceSinkStream stream = {tracker_stream_open(sink->tracker, identity), sink->streams->len};

        g_ptr_array_add(sink->streams, (void *)identity);
        PUT(sink, stream_open, stream.number, identity);
        return stream;
}

bool trace_sink_save(TraceSink *sink, SnapshotWriter *writer, GError **error)
{
        guint i;

        if (sink->streams->len > INGEST_MAX_STREAMS)
                return trace_sink_fail(sink, error,
                                       "more than 4096 streams: a snapshot has at most that many. "
                                       "Name a directory with fewer traces");
        sink->writer = writer;
        ingest_put_hello(sink->batch, INGEST_VERSION, "clrsym " CLRSYM_VERSION);
        for (i = 0; i < sink->streams->len; i++)
                ingest_put_stream_open(sink->batch, i, sink->streams->pdata[i]);
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

bool trace_sink_record(TraceSink *sink, TraceSinkStream stream, const Record *record, int64_t order,
                       GError **error)
{
        if (sink->writer && !trace_sink_next_batch(sink, order, error))
                return false;
        /* What no feeder can send the tracker does not get either, so that both ways are equal. */
        if (!ingest_record_fits(record)) {
                sink->n_too_large++;
                return true;
        }
        tracker_apply_record(sink->tracker, stream.tracked, record);
        PUT(sink, record, stream.number, record);
        if (program_names_note(&sink->programs, record)) {
                tracker_apply_program(sink->tracker, stream.tracked, record);
                PUT(sink, program, stream.number, record);
        }
        return true;
}

void trace_sink_gap(TraceSink *sink, TraceSinkStream stream, const StreamGap *gap)
{
        if (!stream.tracked)
                return;
        tracker_apply_gap(sink->tracker, stream.tracked, gap);
        PUT(sink, gap, stream.number, gap);
}

void trace_sink_progress(TraceSink *sink, TraceSinkStream stream, uint64_t time)
{
        if (!stream.tracked)
                return;
        tracker_apply_progress(sink->tracker, stream.tracked, time);
        PUT(sink, progress, stream.number, time);
}

void trace_sink_close(TraceSink *sink, TraceSinkStream stream)
{
        if (!stream.tracked)
                return;
        tracker_stream_close(sink->tracker, stream.tracked);
        PUT(sink, stream_close, stream.number);
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
