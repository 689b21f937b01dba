/* SPDX-License-Identifier: MIT */
#include "offline/trace-ctf.h"

#include "ctf/read-ahead.h"

#include <glib.h>

/* Items that are read before others have their turn. */
#define ITEMS_A_PIECE 8192

/* A stream of the trace, as the sink has it. */
typedef struct TraceStream {
        TraceSinkStream sunk; /* has nothing: it has no clock */
        bool has_begun;       /* the tracker knows where it begins */
        uint64_t end;         /* of its last packet; 0: not known */
} TraceStream;

struct TraceCtf {
        char *directory;      /* owned */
        CtfReader *reader;    /* owned */
        CtfReadAhead *ahead;  /* owned */
        uint64_t n_read;      /* bytes of the files */
        TraceSink *sink;      /* borrowed */
        TraceStream *streams; /* owned: one for each of the reader's */
};

static bool trace_ctf_fail(const TraceCtf *ctf, GError **error, const char *what)
{
        g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", ctf->directory, what);
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
                if (stream->has_clock)
                        own->sunk = trace_sink_open(ctf->sink, stream->identity);
        }
        ctf->ahead = ctf_read_ahead_new(ctf->reader);
        return true;
}

TraceCtf *trace_ctf_new(const char *directory, bool jit_events, TraceSink *sink, GError **error)
{
        TraceCtf *ctf = g_new0(TraceCtf, 1);
        g_autoptr(GError) reason = NULL;

        ctf->directory = g_strdup(directory);
        ctf->sink = sink;
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
        ctf_read_ahead_free(ctf->ahead);
        ctf_reader_free(ctf->reader);
        g_free(ctf->streams);
        g_free(ctf->directory);
        g_free(ctf);
}

static void trace_ctf_begin_stream(TraceCtf *ctf, TraceStream *own, uint64_t time)
{
        if (own->has_begun)
                return;
        own->has_begun = true;
        trace_sink_progress(ctf->sink, own->sunk, time);
}

static void trace_ctf_end_stream(TraceCtf *ctf, TraceStream *own)
{
        if (own->end)
                trace_sink_progress(ctf->sink, own->sunk, own->end);
        trace_sink_close(ctf->sink, own->sunk);
}

static bool trace_ctf_refuse(const TraceCtf *ctf, const CtfReadItem *item, GError **error)
{
        const char *session = ctf_reader_trace_name(ctf->reader, item->stream);
        g_autofree char *what = item->outcome == CTF_DECODE_NO_CLOCK
                                        ? stream_clockless_reason(session)
                                        : stream_unattributed_reason(session, session);

        return trace_ctf_fail(ctf, error, g_strdelimit(what, "\n", ' '));
}

static bool trace_ctf_take_event(TraceCtf *ctf, const CtfReadItem *item, GError **error)
{
        TraceStream *own = item->user;

        trace_ctf_begin_stream(ctf, own, item->time);
        if (item->outcome == CTF_DECODE_SKIPPED)
                return true;
        if (item->outcome != CTF_DECODE_RECORD)
                return trace_ctf_refuse(ctf, item, error);
        return trace_sink_record(ctf->sink, own->sunk, &item->record, item->order, error);
}

static bool trace_ctf_take(TraceCtf *ctf, const CtfReadItem *item, GError **error)
{
        TraceStream *own = item->user;

        switch (item->type) {
        case CTF_ITEM_EVENT:
                return trace_ctf_take_event(ctf, item, error);
        case CTF_ITEM_DISCARDED_EVENTS:
        case CTF_ITEM_DISCARDED_PACKETS:
                trace_sink_gap(ctf->sink, own->sunk, &item->gap);
                break;
        case CTF_ITEM_PACKET_BEGIN:
                if (item->has_time)
                        trace_ctf_begin_stream(ctf, own, item->time);
                break;
        case CTF_ITEM_PACKET_END:
                if (item->has_time)
                        own->end = MAX(own->end, item->time);
                break;
        case CTF_ITEM_END:
                trace_ctf_end_stream(ctf, own);
                break;
        case CTF_ITEM_NONE: /* of streams without files only */
                break;
        }
        return true;
}

static void trace_ctf_end(TraceCtf *ctf, GError **error)
{
        FeederReport report;

        trace_ctf_report(ctf, &report);
        trace_sink_end(ctf->sink, &report, error);
}

bool trace_ctf_run(TraceCtf *ctf, GError **error)
{
        uint64_t n_items = 0;

        while (n_items < ITEMS_A_PIECE) {
                CtfReadBatch *batch = ctf_read_ahead_next(ctf->ahead);
                size_t i;

                for (i = 0; i < batch->n_items; i++)
                        if (!trace_ctf_take(ctf, &batch->items[i], error))
                                return false;
                ctf->n_read = batch->n_read;
                n_items += batch->weight;
                switch (batch->result) {
                case CTF_READ_ITEM:
                        break;
                case CTF_READ_END:
                        trace_ctf_end(ctf, error);
                        return false;
                case CTF_READ_ERROR:
                        g_propagate_error(error, g_steal_pointer(&batch->error));
                        return trace_ctf_fail_reader(ctf, error);
                }
        }
        return true;
}

void trace_ctf_report(const TraceCtf *ctf, FeederReport *ret_report)
{
        ctf_reader_report(ctf->reader, ret_report);
        trace_sink_report(ctf->sink, ret_report);
}

void trace_ctf_progress(const TraceCtf *ctf, uint64_t *ret_read, uint64_t *ret_total)
{
        *ret_read = ctf->n_read;
        *ret_total = ctf_reader_n_bytes(ctf->reader);
}
