/* SPDX-License-Identifier: MIT */
#include "offline/trace-ctf.h"

#include "ctf/reader.h"
#include <gio/gio.h>

/* Items that are read before others have their turn. */
#define ITEMS_A_PIECE 8192
/* Bytes of a packet that take as long as one item, if none of its events is wanted. */
#define BYTES_AN_ITEM 64

/* A stream of the trace, as the sink has it. */
typedef struct TraceStream {
        TraceSinkStream sunk; /* has nothing: it has no clock */
        bool has_begun;       /* the tracker knows where it begins */
        uint64_t end;         /* of its last packet; 0: not known */
} TraceStream;

struct TraceCtf {
        char *directory;      /* owned */
        CtfReader *reader;    /* owned */
        TraceSink *sink;      /* borrowed */
        TraceStream *streams; /* owned: one for each of the reader's */
};

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
        return trace_sink_record(ctf->sink, own->sunk, &record, stream->order, error);
}

static bool trace_ctf_take(TraceCtf *ctf, CtfDataStream *stream, GError **error)
{
        TraceStream *own = stream->user;

        switch (stream->item) {
        case CTF_ITEM_EVENT:
                return trace_ctf_take_event(ctf, stream, error);
        case CTF_ITEM_DISCARDED_EVENTS:
        case CTF_ITEM_DISCARDED_PACKETS:
                trace_sink_gap(ctf->sink, own->sunk, &stream->gap);
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
                CtfDataStream *stream;

                switch (ctf_reader_next(ctf->reader, &stream, error)) {
                case CTF_READ_ITEM:
                        n_items += stream->item == CTF_ITEM_PACKET_END
                                           ? stream->packet.content_size / 8 / BYTES_AN_ITEM
                                           : 1;
                        if (!trace_ctf_take(ctf, stream, error))
                                return false;
                        break;
                case CTF_READ_END:
                        trace_ctf_end(ctf, error);
                        return false;
                case CTF_READ_ERROR:
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
        ctf_reader_progress(ctf->reader, ret_read, ret_total);
}
