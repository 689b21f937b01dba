/* SPDX-License-Identifier: MIT */
#include "offline/trace-reader.h"

#include "offline/trace-sink.h"

#include <glib.h>

/* Weight of the batches that are taken before other sources of the main loop have their turn. */
#define WEIGHT_A_TURN 8192

struct TraceReader {
        char *path;             /* owned */
        EventReader *events;    /* owned */
        TraceSink *sink;        /* owned */
        SnapshotWriter *writer; /* owned, maybe NULL */
        uint64_t n_read;        /* bytes */
        char *note;             /* owned, maybe NULL */
        TraceReaderDone done;
        void *data;
        guint turn; /* source: takes the next batches */
};

static bool trace_reader_fail(const TraceReader *reader, GError **error, const char *what)
{
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", reader->path, what);
        return false;
}

/* Everything was read: checks that the trace is usable. False with ERROR set. */
static bool trace_reader_finish(TraceReader *reader, GError **error)
{
        FeederReport report;

        event_reader_report(reader->events, &report);
        trace_sink_report(reader->sink, &report);
        if (!trace_sink_end(reader->sink, &report, error))
                return false;
        if (!report.dotnet_events)
                return trace_reader_fail(reader, error, EVENT_READER_NOTHING);
        if (report.later_events)
                reader->note = g_strdup_printf("%" G_GUINT64_FORMAT
                                               " events are of a later version than clrsym knows: "
                                               "clrsym uses the fields that it knows",
                                               report.later_events);
        return !reader->writer || snapshot_writer_finish(reader->writer, error);
}

/* Takes the next batch. EVENT_READ_ERROR: ERROR is set. */
static EventReadResult trace_reader_take(TraceReader *reader, size_t *weight, GError **error)
{
        EventBatch *batch = event_reader_next(reader->events);
        size_t i;

        for (i = 0; i < batch->n_items; i++)
                if (!trace_sink_take(reader->sink, &batch->items[i], error))
                        return EVENT_READ_ERROR;
        reader->n_read = batch->n_read;
        *weight += batch->weight;
        if (batch->result == EVENT_READ_ERROR)
                g_propagate_error(error, g_steal_pointer(&batch->error));
        return batch->result;
}

static gboolean trace_reader_on_turn(gpointer data)
{
        TraceReader *reader = data;
        EventReadResult result = EVENT_READ_MORE;
        GError *error = NULL;
        size_t weight = 0;

        while (result == EVENT_READ_MORE && weight < WEIGHT_A_TURN)
                result = trace_reader_take(reader, &weight, &error);
        if (result == EVENT_READ_MORE)
                return G_SOURCE_CONTINUE;
        if (result == EVENT_READ_END)
                trace_reader_finish(reader, &error);
        reader->turn = 0;
        g_clear_pointer(&reader->writer, snapshot_writer_free);
        reader->done(reader->data, error);
        return G_SOURCE_REMOVE;
}

static bool trace_reader_start(TraceReader *reader, const TraceReaderOptions *options,
                               GError **error)
{
        reader->events = event_reader_new(
                options->path, options->jit_events ? EVENT_USE_JIT : EVENT_USE_CODE_MAPS, error);
        if (!reader->events)
                return false;
        if (options->save) {
                reader->writer = snapshot_writer_new(
                        options->save, event_reader_has_jit_events(reader->events), error);
                if (!reader->writer)
                        return false;
                trace_sink_save(reader->sink, reader->writer);
        }
        reader->turn = g_idle_add(trace_reader_on_turn, reader);
        return true;
}

TraceReader *trace_reader_new(const TraceReaderOptions *options, Tracker *tracker,
                              TraceReaderDone done, void *data, GError **error)
{
        TraceReader *reader = g_new0(TraceReader, 1);

        reader->path = g_strdup(options->path);
        reader->sink = trace_sink_new(options->path, tracker);
        reader->done = done;
        reader->data = data;
        if (!trace_reader_start(reader, options, error)) {
                trace_reader_free(reader);
                return NULL;
        }
        return reader;
}

void trace_reader_free(TraceReader *reader)
{
        if (!reader)
                return;
        g_clear_handle_id(&reader->turn, g_source_remove);
        trace_sink_free(reader->sink);
        event_reader_free(reader->events);
        snapshot_writer_free(reader->writer);
        g_free(reader->note);
        g_free(reader->path);
        g_free(reader);
}

const char *trace_reader_note(const TraceReader *reader)
{
        return reader->note;
}

void trace_reader_progress(TraceReader *reader, uint64_t *ret_read, uint64_t *ret_total)
{
        *ret_read = reader->n_read;
        *ret_total = MAX(event_reader_n_bytes(reader->events), reader->n_read);
}
