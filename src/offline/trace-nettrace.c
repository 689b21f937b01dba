/* SPDX-License-Identifier: MIT */
#include "offline/trace-nettrace.h"

#include "nettrace/read-ahead.h"

#include <glib.h>

/* Items that are read before others have their turn. */
#define ITEMS_A_PIECE 4096

struct TraceNettrace {
        char *path; /* owned */
        NettraceFile file;
        NettraceReader *reader;   /* owned */
        NettraceReadAhead *ahead; /* owned */
        uint64_t n_read;          /* bytes of the file */
        uint64_t size;            /* of the file, when it was opened */
        FeederReport report;      /* of what was read */
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
        trace->size = trace->file.size;
        trace->ahead = nettrace_read_ahead_new(&trace->file, trace->reader);
        return trace;
}

void trace_nettrace_free(TraceNettrace *trace)
{
        if (!trace)
                return;
        nettrace_read_ahead_free(trace->ahead);
        nettrace_file_deinit(&trace->file);
        nettrace_reader_free(trace->reader);
        stream_identity_free(trace->identity);
        g_free(trace->path);
        g_free(trace);
}

/* The stream begins with the session. */
static void trace_nettrace_begin(TraceNettrace *trace, const NettraceHeader *header)
{
        if (trace->identity || !header)
                return;
        trace->identity = nettrace_header_identity(header);
        trace->stream = trace_sink_open(trace->sink, trace->identity);
        trace_sink_progress(trace->sink, trace->stream, header->begin);
}

static bool trace_nettrace_take(TraceNettrace *trace, const NettraceReadBatch *batch,
                                GError **error)
{
        size_t i;

        trace->n_read = batch->n_read;
        trace->report = batch->report;
        trace_nettrace_begin(trace, batch->header);
        for (i = 0; i < batch->n_items; i++) {
                const NettraceReadItem *item = &batch->items[i];

                if (item->type == NETTRACE_ITEM_GAP)
                        trace_sink_gap(trace->sink, trace->stream, &item->gap);
                else if (!trace_sink_record(trace->sink, trace->stream, &item->record,
                                            (int64_t)item->record.time, error))
                        return false;
        }
        return true;
}

/* It is known up to its last promise, not to the end of its process. */
static void trace_nettrace_end(TraceNettrace *trace, uint64_t horizon, GError **error)
{
        FeederReport report;

        if (trace->identity) {
                trace_sink_progress(trace->sink, trace->stream, horizon);
                trace_sink_close(trace->sink, trace->stream);
        }
        trace_nettrace_report(trace, &report);
        trace_sink_end(trace->sink, &report, error);
}

bool trace_nettrace_run(TraceNettrace *trace, GError **error)
{
        size_t n_items = 0;

        while (n_items < ITEMS_A_PIECE) {
                NettraceReadBatch *batch = nettrace_read_ahead_next(trace->ahead);

                if (!trace_nettrace_take(trace, batch, error))
                        return false;
                /* One without items took as long as another. */
                n_items += MAX(batch->n_items, ITEMS_A_PIECE / 16);
                switch (batch->result) {
                case NETTRACE_FILE_MORE:
                        break;
                case NETTRACE_FILE_END:
                        trace_nettrace_end(trace, batch->horizon, error);
                        return false;
                case NETTRACE_FILE_ERROR:
                        g_propagate_prefixed_error(error, g_steal_pointer(&batch->error),
                                                   "%s: ", trace->path);
                        return false;
                }
        }
        return true;
}

void trace_nettrace_report(const TraceNettrace *trace, FeederReport *ret_report)
{
        *ret_report = trace->report;
        trace_sink_report(trace->sink, ret_report);
}

void trace_nettrace_progress(const TraceNettrace *trace, uint64_t *ret_read, uint64_t *ret_total)
{
        *ret_read = trace->n_read;
        *ret_total = MAX(trace->size, trace->n_read);
}
