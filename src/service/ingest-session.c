/* SPDX-License-Identifier: MIT */
#include "service/ingest-session.h"

#include <errno.h>

typedef enum State {
        STATE_HELLO,     /* nothing but HELLO is understood yet */
        STATE_STREAMING, /* batches */
        STATE_CLOSED,    /* the protocol was broken: bytes are ignored */
} State;

struct IngestSession {
        Tracker *tracker;       /* borrowed */
        const IngestSink *sink; /* borrowed or NULL */
        State state;
        bool is_held;
        GByteArray *input;  /* owned: whole frames of the open batch, then a part of one */
        size_t n_batch;     /* bytes of input that are whole frames of the batch */
        GByteArray *output; /* owned */
        GPtrArray *streams; /* borrowed TrackerStreams by number; NULL: closed */
        GArray *acked;      /* uint64_t by number: the watermark last told */
        uint64_t now;       /* of INGEST_ALL_STREAMS, in the batch that is applied; 0: not told */
        IngestReport report;
        uint64_t n_commits;
        char *error; /* owned */
};

IngestSession *ingest_session_new(Tracker *tracker, bool hold)
{
        IngestSession *session = g_new0(IngestSession, 1);

        session->tracker = tracker;
        session->is_held = hold;
        session->input = g_byte_array_new();
        session->output = g_byte_array_new();
        session->streams = g_ptr_array_new();
        session->acked = g_array_new(FALSE, TRUE, sizeof(uint64_t));
        return session;
}

void ingest_session_free(IngestSession *session)
{
        guint i;

        if (!session)
                return;
        for (i = 0; i < session->streams->len; i++)
                if (session->streams->pdata[i])
                        tracker_stream_detach(session->tracker, session->streams->pdata[i]);
        g_byte_array_unref(session->input);
        g_byte_array_unref(session->output);
        g_ptr_array_unref(session->streams);
        g_array_unref(session->acked);
        g_free(session->error);
        g_free(session);
}

static bool fail(IngestSession *session, const char *reason)
{
        if (session->state != STATE_CLOSED)
                ingest_put_error(session->output, reason);
        session->state = STATE_CLOSED;
        g_byte_array_set_size(session->input, 0);
        session->n_batch = 0;
        if (!session->error)
                session->error = g_strdup(reason);
        return false;
}

static TrackerStream *stream_at(const IngestSession *session, uint32_t number)
{
        return number < session->streams->len ? session->streams->pdata[number] : NULL;
}

static bool on_hello(IngestSession *session, const IngestFrame *frame)
{
        g_autofree char *reason = NULL;
        uint32_t version;

        if (frame->type != INGEST_HELLO || ingest_get_hello(frame, &version) < 0)
                return fail(session, "expected HELLO: this is clrsym's ingest socket, for "
                                     "sink.clrsym.feed");
        if (version != INGEST_VERSION) {
                reason = g_strdup_printf("the feeder speaks version %u of the ingest protocol, "
                                         "this daemon version %u: install both from one release",
                                         version, INGEST_VERSION);
                return fail(session, reason);
        }
        ingest_put_hello(session->output, INGEST_VERSION, "clrsym " CLRSYM_VERSION);
        ingest_put_empty(session->output, session->is_held ? INGEST_HOLD : INGEST_GO);
        session->state = STATE_STREAMING;
        return true;
}

/* At once, not with its batch: the feeder waits for the watermark. */
static bool on_stream_open(IngestSession *session, const IngestFrame *frame)
{
        const IngestSink *sink = session->sink;
        IngestStream *identity = ingest_stream_new();
        uint32_t number;
        uint64_t watermark;
        int r = ingest_get_stream_open(frame, &number, identity);

        if (r == 0 && number == session->streams->len && number < INGEST_MAX_STREAMS) {
                TrackerStream *stream;

                if (sink)
                        sink->open(sink->data, frame->payload - INGEST_HEADER_SIZE,
                                   INGEST_HEADER_SIZE + frame->n_payload);
                stream = tracker_stream_open(session->tracker, identity);
                watermark = tracker_stream_watermark(stream);
                g_ptr_array_add(session->streams, stream);
                g_array_append_val(session->acked, watermark);
                ingest_put_ack(session->output, number, watermark);
        } else {
                r = -EBADMSG;
        }
        ingest_stream_free(identity);
        return r == 0 || fail(session, "a STREAM_OPEN that is malformed, out of turn, or one too "
                                       "many");
}

/* One frame of a batch: read through, and with APPLY also applied. */
static int batch_frame(IngestSession *session, const IngestFrame *frame, bool apply)
{
        IngestProcessGap process_gap;
        TrackerStream *stream;
        uint32_t number = 0;
        IngestReport report;
        IngestGap gap;
        Record record;
        uint64_t time;
        int r;

        switch ((int)frame->type) {
        case INGEST_RECORD:
                r = ingest_get_record(frame, &number, &record);
                break;
        case INGEST_GAP:
                r = ingest_get_gap(frame, &number, &gap);
                break;
        case INGEST_PROGRESS:
                r = ingest_get_stream_time(frame, &number, &time);
                break;
        case INGEST_STREAM_CLOSE:
                r = ingest_get_stream_close(frame, &number);
                break;
        case INGEST_REPORT:
                r = ingest_get_report(frame, &report);
                if (r == 0 && apply)
                        session->report = report;
                return r;
        case INGEST_PROCESS_GAP:
                r = ingest_get_process_gap(frame, &process_gap);
                if (r == 0 && apply)
                        tracker_apply_process_gap(session->tracker, &process_gap);
                return r;
        default:
                return -EBADMSG;
        }
        if (r == -ENOENT) /* an event that a newer feeder knows: not for us */
                return 0;
        if (r < 0)
                return r;
        if (frame->type == INGEST_PROGRESS && number == INGEST_ALL_STREAMS) {
                if (apply)
                        session->now = MAX(session->now, MIN(time, (uint64_t)INT64_MAX));
                return 0;
        }
        stream = stream_at(session, number);
        if (!stream)
                return apply ? 0 : -EBADMSG;
        if (!apply)
                return 0;
        switch ((int)frame->type) {
        case INGEST_RECORD:
                tracker_apply_record(session->tracker, stream, &record);
                break;
        case INGEST_GAP:
                tracker_apply_gap(session->tracker, stream, &gap);
                break;
        case INGEST_PROGRESS:
                tracker_apply_progress(session->tracker, stream, time);
                break;
        case INGEST_STREAM_CLOSE:
                tracker_stream_close(session->tracker, stream);
                session->streams->pdata[number] = NULL;
                break;
        }
        return 0;
}

static void acknowledge(IngestSession *session)
{
        guint i;

        for (i = 0; i < session->streams->len; i++) {
                uint64_t *acked = &g_array_index(session->acked, uint64_t, i), watermark;

                if (!session->streams->pdata[i])
                        continue;
                watermark = tracker_stream_watermark(session->streams->pdata[i]);
                if (watermark == *acked)
                        continue;
                *acked = watermark;
                ingest_put_ack(session->output, i, watermark);
        }
        ingest_put_empty(session->output, INGEST_COMMITTED);
}

static bool on_commit(IngestSession *session)
{
        const uint8_t *bytes = session->input->data;
        const IngestSink *sink = session->sink;
        IngestFrame frame;
        size_t at;
        int pass;

        for (pass = 0; pass < 2; pass++) {
                if (pass == 1 && sink && session->n_batch)
                        sink->batch(sink->data, bytes, session->n_batch);
                for (at = 0; at < session->n_batch;) {
                        at += (size_t)ingest_frame_next(bytes + at, session->n_batch - at, &frame);
                        if (batch_frame(session, &frame, pass == 1) < 0)
                                return fail(session, "a batch with a malformed message: nothing "
                                                     "of it was taken");
                }
        }
        if (session->now)
                tracker_apply_quiet(session->tracker, session->streams, (int64_t)session->now);
        session->now = 0;
        tracker_commit(session->tracker);
        if (sink)
                sink->applied(sink->data);
        session->n_commits++;
        acknowledge(session);
        return true;
}

/* The next frame behind the batch so far. Returns false if there is none, or it ended it all. */
static bool next_frame(IngestSession *session)
{
        IngestFrame frame;
        ssize_t n = ingest_frame_next(session->input->data + session->n_batch,
                                      session->input->len - session->n_batch, &frame);
        bool ok;

        if (n < 0)
                return fail(session, "a message with an impossible length");
        if (n == 0)
                return false;
        if (session->state == STATE_HELLO) {
                ok = on_hello(session, &frame);
        } else if (frame.type == INGEST_STREAM_OPEN) {
                ok = on_stream_open(session, &frame);
        } else if (frame.type == INGEST_COMMIT) {
                ok = on_commit(session);
                n += (ssize_t)session->n_batch;
                session->n_batch = 0;
        } else {
                session->n_batch += (size_t)n;
                if (session->n_batch > INGEST_MAX_BATCH)
                        return fail(session, "a batch without an end");
                return true;
        }
        if (ok)
                g_byte_array_remove_range(session->input, (guint)session->n_batch, (guint)n);
        return ok;
}

bool ingest_session_feed(IngestSession *session, const uint8_t *bytes, size_t n)
{
        if (session->state != STATE_CLOSED) {
                g_byte_array_append(session->input, bytes, (guint)n);
                while (next_frame(session))
                        ;
        }
        return session->state != STATE_CLOSED;
}

void ingest_session_set_sink(IngestSession *session, const IngestSink *sink)
{
        session->sink = sink;
}

const GPtrArray *ingest_session_streams(const IngestSession *session)
{
        return session->streams;
}

void ingest_session_restore(IngestSession *session, const GPtrArray *streams)
{
        guint i;

        for (i = 0; i < streams->len; i++) {
                TrackerStream *stream = streams->pdata[i];
                uint64_t watermark = stream ? tracker_stream_watermark(stream) : 0;

                g_ptr_array_add(session->streams, stream);
                g_array_append_val(session->acked, watermark);
        }
        session->state = STATE_STREAMING;
}

void ingest_session_go(IngestSession *session)
{
        if (session->is_held && session->state == STATE_STREAMING)
                ingest_put_empty(session->output, INGEST_GO);
        session->is_held = false;
}

GByteArray *ingest_session_output(IngestSession *session)
{
        return session->output;
}

const IngestReport *ingest_session_report(const IngestSession *session)
{
        return &session->report;
}

uint64_t ingest_session_n_commits(const IngestSession *session)
{
        return session->n_commits;
}

const char *ingest_session_error(const IngestSession *session)
{
        return session->error;
}
