/* SPDX-License-Identifier: MIT */
#include "offline/trace-nettrace.h"

#include "nettrace/file.h"

#include <gio/gio.h>

struct TraceNettrace {
        char *path; /* owned */
        NettraceFile file;
        NettraceReader *reader;   /* owned */
        TraceSink *sink;          /* borrowed */
        StreamIdentity *identity; /* owned; NULL: the header has not come yet */
        TraceSinkStream stream;
};

TraceNettrace *trace_nettrace_new(int fd, const char *path, bool jit_events, TraceSink *sink,
                                  GError **error)
{
        TraceNettrace *trace = g_new0(TraceNettrace, 1);

        trace->path = g_strdup(path);
        trace->sink = sink;
        trace->reader = nettrace_reader_new(jit_events ? EVENT_USE_JIT : EVENT_USE_CODE_MAPS);
        trace->file.fd = -1;
        if (!nettrace_file_init(&trace->file, fd, error)) {
                g_prefix_error(error, "%s: ", path);
                trace_nettrace_free(trace);
                return NULL;
        }
        return trace;
}

void trace_nettrace_free(TraceNettrace *trace)
{
        if (!trace)
                return;
        nettrace_file_deinit(&trace->file);
        nettrace_reader_free(trace->reader);
        stream_identity_free(trace->identity);
        g_free(trace->path);
        g_free(trace);
}

/* The stream begins with the session. */
static void trace_nettrace_begin(TraceNettrace *trace)
{
        const NettraceHeader *header = nettrace_reader_header(trace->reader);

        if (trace->identity || !header)
                return;
        trace->identity = nettrace_header_identity(header);
        trace->stream = trace_sink_open(trace->sink, trace->identity);
        trace_sink_progress(trace->sink, trace->stream, header->begin);
}

/* Empties the reader. */
static bool trace_nettrace_take(TraceNettrace *trace, GError **error)
{
        NettraceItem item;
        Record record;
        StreamGap gap;

        while ((item = nettrace_reader_next(trace->reader, &record, &gap)) != NETTRACE_ITEM_NONE)
                if (item == NETTRACE_ITEM_GAP)
                        trace_sink_gap(trace->sink, trace->stream, &gap);
                else if (!trace_sink_record(trace->sink, trace->stream, &record,
                                            (int64_t)record.time, error))
                        return false;
        return true;
}

/* It is known up to its last promise, not to the end of its process. */
static void trace_nettrace_end(TraceNettrace *trace, GError **error)
{
        FeederReport report;

        if (trace->identity) {
                trace_sink_progress(trace->sink, trace->stream,
                                    nettrace_reader_horizon(trace->reader));
                trace_sink_close(trace->sink, trace->stream);
        }
        trace_nettrace_report(trace, &report);
        trace_sink_end(trace->sink, &report, error);
}

bool trace_nettrace_run(TraceNettrace *trace, GError **error)
{
        NettraceFileResult result = nettrace_file_push(&trace->file, trace->reader, error);

        if (result == NETTRACE_FILE_ERROR) {
                g_prefix_error(error, "%s: ", trace->path);
                return false;
        }
        trace_nettrace_begin(trace);
        if (!trace_nettrace_take(trace, error))
                return false;
        if (result == NETTRACE_FILE_END)
                trace_nettrace_end(trace, error);
        return result == NETTRACE_FILE_MORE;
}

void trace_nettrace_report(const TraceNettrace *trace, FeederReport *ret_report)
{
        nettrace_reader_report(trace->reader, ret_report);
        trace_sink_report(trace->sink, ret_report);
}

void trace_nettrace_progress(const TraceNettrace *trace, uint64_t *ret_read, uint64_t *ret_total)
{
        *ret_read = trace->file.n_read;
        *ret_total = MAX(trace->file.size, trace->file.n_read);
}
