/* SPDX-License-Identifier: MIT */
#include "offline/trace-reader.h"

#include "ctf/error.h"
#include "nettrace/file.h"
#include "offline/snapshot.h"
#include "offline/trace-babeltrace.h"
#include "offline/trace-ctf.h"
#include "offline/trace-nettrace.h"
#include "offline/trace-progress.h"
#include "util/babeltrace.h"
#include "util/fd.h"
#include "wire/ingest-connection.h"

#include <errno.h>
#include <fcntl.h>
#include <glib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Pieces of a snapshot that are read before others have their turn. */
#define PIECES_A_TURN 4

struct TraceReader {
        TraceReaderOptions options;
        IngestConnection *ingest; /* owned: of a babeltrace2 or a snapshot */
        SnapshotWriter *writer;   /* owned, maybe NULL */
        GError *error;            /* owned: of the writer */
        TraceReaderDone done;
        void *data;
        guint turn; /* source: reads the next piece */
        /* To read traces in this process: one of the two. */
        TraceSink *sink;         /* owned */
        TraceCtf *ctf;           /* owned */
        TraceNettrace *nettrace; /* owned */
        /* To read traces with babeltrace2: */
        char *note;                  /* owned: the reason for that */
        TraceProgress *progress;     /* owned */
        TraceBabeltrace *babeltrace; /* owned */
        /* To read a snapshot: */
        SnapshotReader *snapshot; /* owned */
};

static GError *trace_reader_fail(const TraceReader *reader, const char *what)
{
        return g_error_new(G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", reader->options.path, what);
}

static uint64_t trace_reader_dotnet_events(const TraceReader *reader)
{
        FeederReport report;

        if (reader->ctf)
                trace_ctf_report(reader->ctf, &report);
        else if (reader->nettrace)
                trace_nettrace_report(reader->nettrace, &report);
        else
                report = *ingest_connection_report(reader->ingest);
        return report.dotnet_events;
}

/* Everything was read, or ERROR is set. Checks whether that is good enough, and ends. */
static void trace_reader_end(TraceReader *reader, GError *error)
{
        if (reader->error) {
                g_clear_error(&error);
                error = g_steal_pointer(&reader->error);
        }
        if (!error && trace_reader_dotnet_events(reader) == 0)
                error = trace_reader_fail(
                        reader, "not one event of the .NET runtime in this trace: `clrsym "
                                "doctor` finds out why");
        if (!error && reader->writer)
                snapshot_writer_finish(reader->writer, &error);
        g_clear_pointer(&reader->writer, snapshot_writer_free);
        reader->done(reader->data, error);
}

/* A snapshot holds what the connection is fed. */
static bool trace_reader_save(TraceReader *reader, const uint8_t *bytes, size_t n)
{
        return !reader->writer || snapshot_writer_add(reader->writer, bytes, n, &reader->error);
}

static void on_connected(void *data)
{
        trace_progress_begin(((TraceReader *)data)->progress);
}

static bool on_fed(void *data, const uint8_t *bytes, size_t n)
{
        return trace_reader_save(data, bytes, n);
}

static void on_ended(void *data, GError *error)
{
        trace_reader_end(data, error);
}

static const TraceBabeltraceCalls CALLS = {
        .connected = on_connected,
        .fed = on_fed,
        .ended = on_ended,
};

/* Takes the next piece of a snapshot. False at the end, with or without *RET_ERROR set. */
static bool trace_reader_take_piece(TraceReader *reader, GError **ret_error)
{
        const uint8_t *bytes;
        ssize_t n = snapshot_reader_next(reader->snapshot, &bytes, ret_error);

        if (n <= 0)
                return false;
        ingest_connection_feed(reader->ingest, bytes, (size_t)n);
        /* Nobody reads acknowledgements here. */
        g_byte_array_set_size(ingest_connection_output(reader->ingest), 0);
        if (ingest_connection_error(reader->ingest)) {
                *ret_error = trace_reader_fail(
                        reader, "a damaged snapshot: make it again with clrsym save");
                return false;
        }
        return trace_reader_save(reader, bytes, (size_t)n);
}

/* The same of traces that are read here. */
static bool trace_reader_take_events(TraceReader *reader, GError **ret_error)
{
        return reader->ctf ? trace_ctf_run(reader->ctf, ret_error)
                           : trace_nettrace_run(reader->nettrace, ret_error);
}

static gboolean trace_reader_on_turn(gpointer data)
{
        TraceReader *reader = data;
        GError *error = NULL;
        bool goes_on = true;
        int i;

        if (!reader->snapshot)
                goes_on = trace_reader_take_events(reader, &error);
        else
                for (i = 0; goes_on && i < PIECES_A_TURN; i++)
                        goes_on = trace_reader_take_piece(reader, &error);
        if (goes_on)
                return G_SOURCE_CONTINUE;
        reader->turn = 0;
        trace_reader_end(reader, error);
        return G_SOURCE_REMOVE;
}

/* Takes over FD: a snapshot, or a file of nettrace. */
static bool trace_reader_open_file(TraceReader *reader, int fd, GError **error)
{
        const TraceReaderOptions *options = &reader->options;

        if (nettrace_file_is(fd)) {
                reader->nettrace = trace_nettrace_new(fd, options->path, options->jit_events,
                                                      reader->sink, error);
                return reader->nettrace != NULL;
        }
        reader->snapshot = snapshot_reader_new(fd, options->path, options->jit_events, error);
        return reader->snapshot != NULL;
}

/* babeltrace2 itself is started later. REASON is what makes it necessary. */
static bool trace_reader_open_babeltrace(TraceReader *reader, const char *reason, GError **error)
{
        reader->note = g_strconcat(BABELTRACE_NOTE, reason, NULL);
        reader->progress = trace_progress_new(reader->options.path, error);
        return reader->progress != NULL;
}

static bool trace_reader_open_traces(TraceReader *reader, GError **error)
{
        const TraceReaderOptions *options = &reader->options;
        g_autoptr(GError) reason = NULL;

        if (babeltrace_is_asked_for())
                return trace_reader_open_babeltrace(reader, BABELTRACE_ASKED_FOR, error);
        reader->ctf = trace_ctf_new(options->path, options->jit_events, reader->sink, &reason);
        if (reader->ctf)
                return true;
        if (g_error_matches(reason, CTF_ERROR, CTF_ERROR_UNSUPPORTED))
                return trace_reader_open_babeltrace(reader, reason->message, error);
        g_propagate_error(error, g_steal_pointer(&reason));
        return false;
}

static bool trace_reader_open(TraceReader *reader, GError **error)
{
        FD_AUTO int fd = open(reader->options.path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        const char *wrong = NULL;
        struct stat st;

        if (fd < 0 || fstat(fd, &st) < 0)
                wrong = g_strerror(errno);
        else if (S_ISREG(st.st_mode))
                return trace_reader_open_file(reader, fd_steal(&fd), error);
        else if (!S_ISDIR(st.st_mode))
                wrong = TRACE_NEITHER;
        if (!wrong)
                return trace_reader_open_traces(reader, error);
        g_propagate_error(error, trace_reader_fail(reader, wrong));
        return false;
}

static bool trace_reader_start_saving(TraceReader *reader, GError **error)
{
        const TraceReaderOptions *options = &reader->options;
        bool jit_events = reader->snapshot ? snapshot_reader_has_jit_events(reader->snapshot)
                                           : options->jit_events;

        reader->writer = snapshot_writer_new(options->save, jit_events, error);
        if (!reader->writer)
                return false;
        return !(reader->ctf || reader->nettrace) ||
               trace_sink_save(reader->sink, reader->writer, error);
}

static bool trace_reader_start(TraceReader *reader, GError **error)
{
        const TraceReaderOptions *options = &reader->options;

        if (!trace_reader_open(reader, error) ||
            (options->save && !trace_reader_start_saving(reader, error)))
                return false;
        if (!reader->progress) {
                reader->turn = g_idle_add(trace_reader_on_turn, reader);
                return true;
        }
        reader->babeltrace = trace_babeltrace_new(options->path, options->jit_events,
                                                  reader->ingest, &CALLS, reader, error);
        return reader->babeltrace != NULL;
}

TraceReader *trace_reader_new(const TraceReaderOptions *options, Tracker *tracker,
                              TraceReaderDone done, void *data, GError **error)
{
        TraceReader *reader = g_new0(TraceReader, 1);

        reader->options = *options;
        reader->sink = trace_sink_new(options->path, tracker);
        reader->ingest = ingest_connection_new(tracker, false);
        reader->done = done;
        reader->data = data;
        if (!trace_reader_start(reader, error)) {
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
        trace_ctf_free(reader->ctf);
        trace_nettrace_free(reader->nettrace);
        trace_sink_free(reader->sink);
        trace_babeltrace_free(reader->babeltrace);
        trace_progress_free(reader->progress);
        snapshot_reader_free(reader->snapshot);
        snapshot_writer_free(reader->writer);
        ingest_connection_free(reader->ingest);
        g_clear_error(&reader->error);
        g_free(reader->note);
        g_free(reader);
}

void trace_reader_progress(TraceReader *reader, uint64_t *ret_read, uint64_t *ret_total)
{
        if (reader->snapshot)
                snapshot_reader_progress(reader->snapshot, ret_read, ret_total);
        else if (reader->ctf)
                trace_ctf_progress(reader->ctf, ret_read, ret_total);
        else if (reader->nettrace)
                trace_nettrace_progress(reader->nettrace, ret_read, ret_total);
        else
                trace_progress_update(reader->progress, trace_babeltrace_pid(reader->babeltrace),
                                      ret_read, ret_total);
}

const char *trace_reader_note(const TraceReader *reader)
{
        return reader->note;
}
