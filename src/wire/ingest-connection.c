/* SPDX-License-Identifier: MIT */
#include "wire/ingest-connection.h"

#include "wire/ingest.h"

#include <errno.h>

/* Bytes of acknowledgements that a feeder may leave unread. */
#define MAX_UNREAD_ACKS (1u << 20)

typedef enum State {
        STATE_HELLO,     /* nothing but HELLO is understood yet */
        STATE_STREAMING, /* batches */
        STATE_CLOSED,    /* the protocol was broken: bytes are ignored */
} State;

struct IngestConnection {
        Conversation conversation;
        Tracker *tracker;       /* borrowed */
        const IngestSink *sink; /* borrowed or NULL */
        State state;
        bool is_held;
        GByteArray *input;  /* owned: whole frames of the open batch, then a part of one */
        size_t n_batch;     /* bytes of input that are whole frames of the batch */
        GByteArray *output; /* owned */
        GPtrArray *streams; /* borrowed TrackerStreams by number; NULL: closed */
        GArray *acked;      /* uint64_t by number: the watermark last acknowledged */
        uint64_t now;       /* of INGEST_ALL_STREAMS, in the batch that is applied; 0: none */
        FeederReport report;
        uint64_t n_commits;
        char *error; /* owned */
};

static const ConversationType INGEST_CONVERSATION;

IngestConnection *ingest_connection_new(Tracker *tracker, bool hold)
{
        IngestConnection *connection = g_new0(IngestConnection, 1);

        connection->conversation.type = &INGEST_CONVERSATION;
        connection->tracker = tracker;
        connection->is_held = hold;
        connection->input = g_byte_array_new();
        connection->output = g_byte_array_new();
        connection->streams = g_ptr_array_new();
        connection->acked = g_array_new(FALSE, TRUE, sizeof(uint64_t));
        return connection;
}

void ingest_connection_free(IngestConnection *connection)
{
        guint i;

        if (!connection)
                return;
        for (i = 0; i < connection->streams->len; i++)
                if (connection->streams->pdata[i])
                        tracker_stream_detach(connection->tracker, connection->streams->pdata[i]);
        g_byte_array_unref(connection->input);
        g_byte_array_unref(connection->output);
        g_ptr_array_unref(connection->streams);
        g_array_unref(connection->acked);
        g_free(connection->error);
        g_free(connection);
}

static bool connection_fail(IngestConnection *connection, const char *reason)
{
        if (connection->state != STATE_CLOSED)
                ingest_put_error(connection->output, reason);
        connection->state = STATE_CLOSED;
        g_byte_array_set_size(connection->input, 0);
        connection->n_batch = 0;
        if (!connection->error)
                connection->error = g_strdup(reason);
        return false;
}

static TrackerStream *connection_stream(const IngestConnection *connection, uint32_t number)
{
        return number < connection->streams->len ? connection->streams->pdata[number] : NULL;
}

static bool connection_on_hello(IngestConnection *connection, const IngestFrame *frame)
{
        g_autofree char *reason = NULL;
        uint32_t version;

        if (frame->type != INGEST_HELLO || ingest_get_hello(frame, &version) < 0)
                return connection_fail(connection,
                                       "expected HELLO: this is clrsym's ingest socket, for "
                                       "sink.clrsym.feed");
        if (version != INGEST_VERSION) {
                reason = g_strdup_printf("the feeder speaks version %u of the ingest protocol, "
                                         "this daemon version %u: install both from one release",
                                         version, INGEST_VERSION);
                return connection_fail(connection, reason);
        }
        ingest_put_hello(connection->output, INGEST_VERSION, "clrsym " CLRSYM_VERSION);
        ingest_put_empty(connection->output, connection->is_held ? INGEST_HOLD : INGEST_GO);
        connection->state = STATE_STREAMING;
        return true;
}

/* The next number, or one whose stream is closed. */
static bool connection_is_free(const IngestConnection *connection, uint32_t number)
{
        return number < connection->streams->len
                       ? !connection->streams->pdata[number]
                       : number == connection->streams->len && number < INGEST_MAX_STREAMS;
}

/* At once, not with its batch: the feeder waits for the watermark. */
static bool connection_on_stream_open(IngestConnection *connection, const IngestFrame *frame)
{
        g_autoptr(StreamIdentity) identity = stream_identity_new();
        const IngestSink *sink = connection->sink;
        uint32_t number;
        uint64_t watermark;

        if (ingest_get_stream_open(frame, &number, identity) < 0 ||
            !connection_is_free(connection, number))
                return connection_fail(connection, "a STREAM_OPEN that is malformed, out of turn, "
                                                   "or one too many");
        if (sink) {
                size_t n;
                const uint8_t *bytes = ingest_frame_bytes(frame, &n);

                sink->open(sink->data, bytes, n);
        }
        if (number == connection->streams->len) {
                g_ptr_array_add(connection->streams, NULL);
                g_array_set_size(connection->acked, number + 1);
        }
        connection->streams->pdata[number] = tracker_stream_open(connection->tracker, identity);
        watermark = tracker_stream_watermark(connection->streams->pdata[number]);
        g_array_index(connection->acked, uint64_t, number) = watermark;
        ingest_put_ack(connection->output, number, watermark);
        return true;
}

/* A frame of a batch, decoded. */
typedef struct BatchItem {
        IngestType type;
        uint32_t number; /* of the stream, for those that have one */
        union {
                Record record;
                StreamGap gap;
                uint64_t time; /* PROGRESS */
                ProcessGap process_gap;
                FeederReport report;
        };
} BatchItem;

static int batch_item_decode(const IngestFrame *frame, BatchItem *ret_item)
{
        ret_item->type = frame->type;
        switch ((int)frame->type) {
        case INGEST_RECORD:
                return ingest_get_record(frame, &ret_item->number, &ret_item->record);
        case INGEST_GAP:
                return ingest_get_gap(frame, &ret_item->number, &ret_item->gap);
        case INGEST_PROGRESS:
                return ingest_get_stream_time(frame, &ret_item->number, &ret_item->time);
        case INGEST_STREAM_CLOSE:
                return ingest_get_stream_close(frame, &ret_item->number);
        case INGEST_PROCESS_GAP:
                return ingest_get_process_gap(frame, &ret_item->process_gap);
        case INGEST_REPORT:
                return ingest_get_report(frame, &ret_item->report);
        default:
                return -EBADMSG;
        }
}

static bool batch_item_has_stream(const BatchItem *item)
{
        switch ((int)item->type) {
        case INGEST_PROCESS_GAP:
        case INGEST_REPORT:
                return false;
        case INGEST_PROGRESS:
                return item->number != INGEST_ALL_STREAMS;
        default:
                return true;
        }
}

static void connection_apply(IngestConnection *connection, const BatchItem *item)
{
        TrackerStream *stream =
                batch_item_has_stream(item) ? connection_stream(connection, item->number) : NULL;
        Tracker *tracker = connection->tracker;

        if (batch_item_has_stream(item) && !stream) /* closed earlier in this batch */
                return;
        switch ((int)item->type) {
        case INGEST_RECORD:
                tracker_apply_record(tracker, stream, &item->record);
                break;
        case INGEST_GAP:
                tracker_apply_gap(tracker, stream, &item->gap);
                break;
        case INGEST_PROGRESS:
                if (stream)
                        tracker_apply_progress(tracker, stream, item->time);
                else
                        connection->now =
                                MAX(connection->now, MIN(item->time, (uint64_t)INT64_MAX));
                break;
        case INGEST_STREAM_CLOSE:
                tracker_stream_close(tracker, stream);
                connection->streams->pdata[item->number] = NULL;
                break;
        case INGEST_PROCESS_GAP:
                tracker_apply_process_gap(tracker, &item->process_gap);
                break;
        case INGEST_REPORT:
                connection->report = item->report;
                break;
        }
}

typedef enum BatchPass {
        BATCH_CHECK, /* a batch is applied as a whole or not at all, so all of it is decoded first
                      */
        BATCH_APPLY,
} BatchPass;

/* False, in the first pass only, if a frame makes the batch invalid. */
static bool connection_walk_batch(IngestConnection *connection, BatchPass pass)
{
        const uint8_t *bytes = connection->input->data;
        IngestFrame frame;
        BatchItem item;
        size_t at = 0;
        int r;

        while (at < connection->n_batch) {
                at += (size_t)ingest_frame_next(bytes + at, connection->n_batch - at, &frame);
                r = batch_item_decode(&frame, &item);
                if (r == -ENOENT) /* an event that a newer feeder knows */
                        continue;
                if (r < 0)
                        return false;
                if (pass == BATCH_APPLY)
                        connection_apply(connection, &item);
                else if (batch_item_has_stream(&item) &&
                         !connection_stream(connection, item.number))
                        return false;
        }
        return true;
}

static void connection_acknowledge(IngestConnection *connection)
{
        guint i;

        for (i = 0; i < connection->streams->len; i++) {
                uint64_t *acked = &g_array_index(connection->acked, uint64_t, i), watermark;

                if (!connection->streams->pdata[i])
                        continue;
                watermark = tracker_stream_watermark(connection->streams->pdata[i]);
                if (watermark == *acked)
                        continue;
                *acked = watermark;
                ingest_put_ack(connection->output, i, watermark);
        }
        ingest_put_empty(connection->output, INGEST_COMMITTED);
}

static bool connection_on_commit(IngestConnection *connection)
{
        const IngestSink *sink = connection->sink;

        if (!connection_walk_batch(connection, BATCH_CHECK))
                return connection_fail(connection,
                                       "a batch with a malformed message: nothing of it was "
                                       "taken");
        if (sink && connection->n_batch)
                sink->batch(sink->data, connection->input->data, connection->n_batch);
        connection_walk_batch(connection, BATCH_APPLY);
        if (connection->now)
                tracker_apply_quiet(connection->tracker, connection->streams,
                                    (int64_t)connection->now);
        connection->now = 0;
        tracker_commit(connection->tracker);
        if (sink)
                sink->applied(sink->data);
        connection->n_commits++;
        connection_acknowledge(connection);
        return true;
}

/* The next frame after the batch so far. False if it has not come, or ends the conversation. */
static bool connection_next_frame(IngestConnection *connection)
{
        IngestFrame frame;
        ssize_t n;
        bool ok;

        if (connection->input->len == connection->n_batch)
                return false;
        n = ingest_frame_next(connection->input->data + connection->n_batch,
                              connection->input->len - connection->n_batch, &frame);
        if (n < 0)
                return connection_fail(connection, "a message with an impossible length");
        if (n == 0)
                return false;
        if (connection->state == STATE_HELLO) {
                ok = connection_on_hello(connection, &frame);
        } else if (frame.type == INGEST_STREAM_OPEN) {
                ok = connection_on_stream_open(connection, &frame);
        } else if (frame.type == INGEST_COMMIT) {
                ok = connection_on_commit(connection);
                n += (ssize_t)connection->n_batch;
                connection->n_batch = 0;
        } else {
                connection->n_batch += (size_t)n;
                if (connection->n_batch > INGEST_MAX_BATCH)
                        return connection_fail(connection, "a batch without an end");
                return true;
        }
        if (ok)
                g_byte_array_remove_range(connection->input, (guint)connection->n_batch, (guint)n);
        return ok;
}

bool ingest_connection_feed(IngestConnection *connection, const uint8_t *bytes, size_t n)
{
        if (connection->state != STATE_CLOSED) {
                g_byte_array_append(connection->input, bytes, (guint)n);
                while (connection_next_frame(connection))
                        ;
        }
        return connection->state != STATE_CLOSED;
}

void ingest_connection_set_sink(IngestConnection *connection, const IngestSink *sink)
{
        connection->sink = sink;
}

const GPtrArray *ingest_connection_streams(const IngestConnection *connection)
{
        return connection->streams;
}

void ingest_connection_restore(IngestConnection *connection, const GPtrArray *streams)
{
        guint i;

        for (i = 0; i < streams->len; i++) {
                TrackerStream *stream = streams->pdata[i];
                uint64_t watermark = stream ? tracker_stream_watermark(stream) : 0;

                g_ptr_array_add(connection->streams, stream);
                g_array_append_val(connection->acked, watermark);
        }
        connection->state = STATE_STREAMING;
}

void ingest_connection_go(IngestConnection *connection)
{
        if (connection->is_held && connection->state == STATE_STREAMING)
                ingest_put_empty(connection->output, INGEST_GO);
        connection->is_held = false;
}

GByteArray *ingest_connection_output(IngestConnection *connection)
{
        return connection->output;
}

const FeederReport *ingest_connection_report(const IngestConnection *connection)
{
        return &connection->report;
}

uint64_t ingest_connection_n_commits(const IngestConnection *connection)
{
        return connection->n_commits;
}

const char *ingest_connection_error(const IngestConnection *connection)
{
        return connection->error;
}

static void conversation_feed(Conversation *conversation, const uint8_t *bytes, size_t n)
{
        ingest_connection_feed((IngestConnection *)conversation, bytes, n);
}

static bool conversation_wants_input(const Conversation *conversation)
{
        return ((const IngestConnection *)conversation)->output->len <= MAX_UNREAD_ACKS;
}

static bool conversation_is_over(const Conversation *conversation)
{
        return ((const IngestConnection *)conversation)->state == STATE_CLOSED;
}

static const uint8_t *conversation_output(const Conversation *conversation, size_t *ret_n)
{
        const IngestConnection *connection = (const IngestConnection *)conversation;

        *ret_n = connection->output->len;
        return connection->output->data;
}

static void conversation_sent(Conversation *conversation, size_t n)
{
        g_byte_array_remove_range(((IngestConnection *)conversation)->output, 0, (guint)n);
}

/* No is_partial: a feeder may be quiet in the middle of a batch. */
static const ConversationType INGEST_CONVERSATION = {
        .feed = conversation_feed,
        .wants_input = conversation_wants_input,
        .is_over = conversation_is_over,
        .output = conversation_output,
        .sent = conversation_sent,
};

Conversation *ingest_connection_conversation(IngestConnection *connection)
{
        return &connection->conversation;
}
