/* SPDX-License-Identifier: MIT */
#include "wire/ingest-connection.h"

#include "wire/ingest.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

/* Most bytes of unread acknowledgements. */
#define MAX_UNREAD_ACKS (1u << 20)
/*
 * The cost of a piece of a batch, if turns have an end, in bytes of usual records (5 ns each): its
 * usual cost; and its highest, which records of one time can force.
 */
#define PIECE_COST     (48u << 10)
#define MAX_PIECE_COST (1u << 20)
/*
 * Their bytes alone would be too little: they read all bodies of a process, or all processes of a
 * pid.
 */
#define RUNDOWN_COST     (128u << 10)
#define PROCESS_GAP_COST (3u << 10)

/* Whether the connection may open streams. */
typedef enum PlaceState {
        PLACE_TAKEN,   /* it may open streams */
        PLACE_AWAITED, /* it may when it has a place, which it has not asked for yet */
        PLACE_WANTED,  /* a STREAM_OPEN, and everything after it, waits for a place */
} PlaceState;

typedef enum State {
        STATE_HELLO,     /* only HELLO is accepted */
        STATE_STREAMING, /* batches */
        STATE_CLOSED,    /* the protocol was broken: bytes are ignored */
} State;

/* A place where a batch can be divided. */
typedef struct BatchCut {
        size_t at;
        uint64_t cost; /* of the frames before it */
} BatchCut;

/* The latest records of one time of a stream. */
typedef struct StreamGroup {
        uint64_t batch; /* their batch: n_commits, counted from 1; 0: none */
        uint64_t time;
        size_t begin;    /* offset of the first record in the batch */
        bool is_crowded; /* it has a gap, because further records do not fit */
} StreamGroup;

/* The frames since the last COMMIT, at the begin of the input. */
typedef struct IngestBatch {
        size_t n;             /* bytes of complete frames */
        size_t n_commit;      /* bytes of its COMMIT; 0: none has come */
        size_t n_applied;     /* bytes */
        bool is_bad;          /* an invalid frame came */
        uint64_t cost;        /* of its frames */
        GArray *cuts;         /* owned, of BatchCut, in order */
        guint n_cuts_applied; /* of them */
} IngestBatch;

struct IngestConnection {
        Conversation conversation;
        Tracker *tracker;       /* borrowed */
        const IngestSink *sink; /* borrowed or NULL */
        State state;
        PlaceState place;
        bool is_held;
        int64_t turn_us;   /* 0: no turns, everything is done at once */
        int64_t turn_end;  /* us of the steady clock */
        bool is_late;      /* the turn ended before the input */
        GByteArray *input; /* owned */
        IngestBatch batch;
        GByteArray *output; /* owned */
        GPtrArray *streams; /* borrowed TrackerStreams by number; NULL: closed */
        GArray *acked;      /* uint64_t by number: the watermark last acknowledged */
        GArray *groups;     /* StreamGroup by number */
        uint64_t now;       /* of INGEST_ALL_STREAMS, in the batch being applied; 0: none */
        FeederReport report;
        uint64_t n_commits, n_pieces;
        char *error; /* owned */
};

static const ConversationType INGEST_CONVERSATION;

static void connection_begin_batch(IngestConnection *connection)
{
        GArray *cuts = connection->batch.cuts;

        g_array_set_size(cuts, 0);
        connection->batch = (IngestBatch){.cuts = cuts};
}

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
        connection->groups = g_array_new(FALSE, TRUE, sizeof(StreamGroup));
        connection->batch.cuts = g_array_new(FALSE, FALSE, sizeof(BatchCut));
        connection_begin_batch(connection);
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
        g_array_unref(connection->groups);
        g_array_unref(connection->batch.cuts);
        g_free(connection->error);
        g_free(connection);
}

static bool connection_fail(IngestConnection *connection, const char *reason)
{
        if (connection->state != STATE_CLOSED)
                ingest_put_error(connection->output, reason);
        connection->state = STATE_CLOSED;
        g_byte_array_set_size(connection->input, 0);
        connection_begin_batch(connection);
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

/* True for the next number, or the number of a closed stream. */
static bool connection_is_free(const IngestConnection *connection, uint32_t number)
{
        return number < connection->streams->len
                       ? !connection->streams->pdata[number]
                       : number == connection->streams->len && number < INGEST_MAX_STREAMS;
}

/* Applied at once, not with its batch, because the feeder waits for the watermark. */
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
        uint32_t number; /* of the stream, if it has one */
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
        int r;

        ret_item->type = frame->type;
        switch ((int)frame->type) {
        case INGEST_RECORD:
                r = ingest_get_record(frame, &ret_item->number, &ret_item->record);
                return r == -ENOENT
                               ? ingest_get_program(frame, &ret_item->number, &ret_item->record)
                               : r;
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
                if (item->record.event)
                        tracker_apply_record(tracker, stream, &item->record);
                else
                        tracker_apply_program(tracker, stream, &item->record);
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

static size_t batch_item_cost(const BatchItem *item, size_t n)
{
        if (item->type == INGEST_PROCESS_GAP)
                return n + PROCESS_GAP_COST;
        if (item->type == INGEST_RECORD && item->record.event &&
            item->record.event->kind == EVENT_KIND_RUNDOWN_COMPLETE)
                return n + RUNDOWN_COST;
        return n;
}

/* The last of the first N cuts. */
static BatchCut batch_cut(const IngestBatch *batch, guint n)
{
        return n ? g_array_index(batch->cuts, BatchCut, n - 1) : (BatchCut){0};
}

static StreamGroup *connection_group(IngestConnection *connection, uint32_t number)
{
        if (number >= connection->groups->len)
                g_array_set_size(connection->groups, number + 1);
        return &g_array_index(connection->groups, StreamGroup, number);
}

/*
 * Called before a record of that cost. A batch is not divided between two records of a stream with
 * one time, because the stream's watermark would make the daemon drop the second one. False: the
 * group has too many records already.
 */
static bool connection_join_group(IngestConnection *connection, uint32_t number, uint64_t time,
                                  size_t cost)
{
        StreamGroup *group = connection_group(connection, number);
        IngestBatch *batch = &connection->batch;
        guint n_cuts = batch->cuts->len;

        if (group->batch != connection->n_commits + 1 || group->time != time) {
                *group = (StreamGroup){connection->n_commits + 1, time, batch->n, false};
                return true;
        }
        while (batch_cut(batch, n_cuts).at > group->begin)
                n_cuts--;
        if (group->is_crowded ||
            batch->cost + cost - batch_cut(batch, n_cuts).cost > MAX_PIECE_COST)
                return false;
        g_array_set_size(batch->cuts, n_cuts);
        return true;
}

/*
 * The next record, of N bytes, does not fit: a gap replaces it. Returns the bytes left of it in the
 * batch.
 */
static size_t connection_drop_record(IngestConnection *connection, const BatchItem *item, size_t n)
{
        const StreamGap gap = {.kind = GAP_EVENTS,
                               .begin = item->record.time,
                               .end = item->record.time,
                               .count = GAP_COUNT_UNKNOWN};
        StreamGroup *group = connection_group(connection, item->number);
        g_autoptr(GByteArray) frame = g_byte_array_new();

        if (!group->is_crowded)
                ingest_put_gap(frame, item->number, &gap);
        group->is_crowded = true;
        g_assert(frame->len <= n); /* the head of a record alone is longer */
        if (frame->len)
                memcpy(connection->input->data + connection->batch.n, frame->data, frame->len);
        g_byte_array_remove_range(connection->input, (guint)connection->batch.n + frame->len,
                                  (guint)n - frame->len);
        return frame->len;
}

/*
 * A batch is applied as a whole or not at all: each frame is decoded when it comes, and again when
 * it is applied. Returns how many of the N bytes of the frame belong to the batch.
 */
static size_t connection_check_frame(IngestConnection *connection, const IngestFrame *frame,
                                     size_t n)
{
        IngestBatch *batch = &connection->batch;
        const BatchCut here = {batch->n, batch->cost};
        BatchItem item;
        int r = batch_item_decode(frame, &item);
        bool is_unknown = r == -ENOENT; /* an event of a newer feeder */
        size_t cost;

        if ((r < 0 && !is_unknown) || (!is_unknown && batch_item_has_stream(&item) &&
                                       !connection_stream(connection, item.number))) {
                batch->is_bad = true;
                return n;
        }
        if (!connection->turn_us)
                return n;
        cost = is_unknown ? n : batch_item_cost(&item, n);
        if (here.cost - batch_cut(batch, batch->cuts->len).cost >= PIECE_COST)
                g_array_append_val(batch->cuts, here);
        if (!is_unknown && item.type == INGEST_RECORD &&
            !connection_join_group(connection, item.number, item.record.time, cost))
                cost = n = connection_drop_record(connection, &item, n);
        batch->cost += cost;
        return n;
}

static void connection_apply_frames(IngestConnection *connection, size_t at, size_t end)
{
        const uint8_t *bytes = connection->input->data;
        IngestFrame frame;
        BatchItem item;

        while (at < end) {
                at += (size_t)ingest_frame_next(bytes + at, end - at, &frame);
                if (batch_item_decode(&frame, &item) == 0)
                        connection_apply(connection, &item);
        }
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

/* The journal and the tracker see each piece as a batch. */
static void connection_apply_piece(IngestConnection *connection)
{
        const IngestSink *sink = connection->sink;
        IngestBatch *batch = &connection->batch;
        size_t begin = batch->n_applied, end = batch->n;

        if (batch->n_cuts_applied < batch->cuts->len)
                end = batch_cut(batch, ++batch->n_cuts_applied).at;
        if (sink && end > begin)
                sink->batch(sink->data, connection->input->data + begin, end - begin);
        connection_apply_frames(connection, begin, end);
        if (connection->now)
                tracker_apply_quiet(connection->tracker, connection->streams,
                                    (int64_t)connection->now);
        connection->now = 0;
        tracker_commit(connection->tracker);
        if (sink)
                sink->applied(sink->data);
        batch->n_applied = end;
        connection->n_pieces++;
}

static bool connection_turn_is_over(const IngestConnection *connection)
{
        return connection->turn_us && g_get_monotonic_time() >= connection->turn_end;
}

/* Applies the rest of the batch, until the turn is over. False if the turn ends first. */
static bool connection_go_on(IngestConnection *connection)
{
        IngestBatch *batch = &connection->batch;

        do
                connection_apply_piece(connection);
        while (batch->n_applied < batch->n && !connection_turn_is_over(connection));
        if (batch->n_applied < batch->n)
                return false;
        g_byte_array_remove_range(connection->input, 0, (guint)(batch->n + batch->n_commit));
        connection_begin_batch(connection);
        connection->n_commits++;
        connection_acknowledge(connection);
        return true;
}

static bool connection_is_committing(const IngestConnection *connection)
{
        return connection->batch.n_commit > 0;
}

static bool connection_on_commit(IngestConnection *connection, size_t n_frame)
{
        if (connection->batch.is_bad)
                return connection_fail(connection,
                                       "a batch with a malformed message: nothing of it was "
                                       "taken");
        connection->batch.n_commit = n_frame;
        return connection_go_on(connection);
}

/* Checked after frames that take long: false if input is left and the turn is over. */
static bool connection_has_time(IngestConnection *connection)
{
        connection->is_late =
                connection->input->len > connection->batch.n && connection_turn_is_over(connection);
        return !connection->is_late;
}

/* False: the next frame, a STREAM_OPEN, has to wait. */
static bool connection_may_open(IngestConnection *connection)
{
        if (connection->place == PLACE_AWAITED)
                connection->place = PLACE_WANTED;
        return connection->place == PLACE_TAKEN;
}

/*
 * Takes the next frame of the batch. False if it has not come, or its turn has not, or it ends the
 * conversation.
 */
static bool connection_next_frame(IngestConnection *connection)
{
        IngestBatch *batch = &connection->batch;
        IngestFrame frame;
        ssize_t n;
        bool ok;

        if (connection_is_committing(connection) || connection->input->len == batch->n)
                return false;
        n = ingest_frame_next(connection->input->data + batch->n, connection->input->len - batch->n,
                              &frame);
        if (n < 0)
                return connection_fail(connection, "a message with an impossible length");
        if (n == 0)
                return false;
        if (connection->state == STATE_STREAMING && frame.type == INGEST_COMMIT)
                return connection_on_commit(connection, (size_t)n) &&
                       connection_has_time(connection);
        if (connection->state == STATE_STREAMING && frame.type == INGEST_STREAM_OPEN &&
            !connection_may_open(connection))
                return false;
        if (connection->state == STATE_HELLO || frame.type == INGEST_STREAM_OPEN) {
                ok = connection->state == STATE_HELLO
                             ? connection_on_hello(connection, &frame)
                             : connection_on_stream_open(connection, &frame);
                if (ok)
                        g_byte_array_remove_range(connection->input, (guint)batch->n, (guint)n);
                return ok && connection_has_time(connection);
        }
        batch->n += connection_check_frame(connection, &frame, (size_t)n);
        if (batch->n > INGEST_MAX_BATCH)
                return connection_fail(connection, "a batch of more than 64 MiB: send COMMIT "
                                                   "before (clrsym-ingest(7))");
        return true;
}

static_assert(INGEST_MAX_BATCH == 64u << 20, "the message says so");

/* True while there is work that needs no more input. */
static bool connection_is_busy(const IngestConnection *connection)
{
        return connection_is_committing(connection) || connection->is_late;
}

static void connection_take_turn(IngestConnection *connection)
{
        connection->is_late = false;
        connection->turn_end = g_get_monotonic_time() + connection->turn_us;
        if (connection_is_committing(connection) &&
            !(connection_go_on(connection) && connection_has_time(connection)))
                return;
        while (connection_next_frame(connection))
                ;
}

bool ingest_connection_feed(IngestConnection *connection, const uint8_t *bytes, size_t n)
{
        if (connection->state != STATE_CLOSED) {
                g_byte_array_append(connection->input, bytes, (guint)n);
                if (!connection_is_busy(connection) && connection->place != PLACE_WANTED)
                        connection_take_turn(connection);
        }
        return connection->state != STATE_CLOSED;
}

void ingest_connection_set_turn(IngestConnection *connection, int64_t turn_us)
{
        connection->turn_us = turn_us;
}

void ingest_connection_await_place(IngestConnection *connection)
{
        connection->place = PLACE_AWAITED;
}

bool ingest_connection_wants_place(const IngestConnection *connection)
{
        return connection->place == PLACE_WANTED;
}

void ingest_connection_give_place(IngestConnection *connection)
{
        /* The STREAM_OPEN has arrived: it needs a turn, and no more bytes. */
        connection->is_late |= connection->place == PLACE_WANTED;
        connection->place = PLACE_TAKEN;
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

uint64_t ingest_connection_n_pieces(const IngestConnection *connection)
{
        return connection->n_pieces;
}

const char *ingest_connection_error(const IngestConnection *connection)
{
        return connection->error;
}

static void conversation_feed(Conversation *conversation, const uint8_t *bytes, size_t n)
{
        ingest_connection_feed((IngestConnection *)conversation, bytes, n);
}

bool ingest_connection_run(IngestConnection *connection)
{
        if (connection_is_busy(connection))
                connection_take_turn(connection);
        return !connection_is_busy(connection);
}

static int conversation_run(Conversation *conversation, int64_t now_ms)
{
        return ingest_connection_run((IngestConnection *)conversation) ? -1 : 0;
}

static bool conversation_wants_input(const Conversation *conversation)
{
        const IngestConnection *connection = (const IngestConnection *)conversation;

        return !connection_is_busy(connection) && connection->place != PLACE_WANTED &&
               connection->output->len <= MAX_UNREAD_ACKS;
}

static bool conversation_is_over(const Conversation *conversation)
{
        return ((const IngestConnection *)conversation)->state == STATE_CLOSED;
}

static const uint8_t *conversation_output(const Conversation *conversation, size_t *ret_n)
{
        const IngestConnection *connection = (const IngestConnection *)conversation;
        /* A greeted feeder would assume that the daemon takes its events. */
        const bool is_early = connection->place != PLACE_TAKEN && !connection->n_commits &&
                              connection->state != STATE_CLOSED;

        *ret_n = is_early ? 0 : connection->output->len;
        return connection->output->data;
}

static void conversation_sent(Conversation *conversation, size_t n)
{
        g_byte_array_remove_range(((IngestConnection *)conversation)->output, 0, (guint)n);
}

/* Without is_partial, because a feeder may pause in the middle of a batch. */
static const ConversationType INGEST_CONVERSATION = {
        .feed = conversation_feed,
        .run = conversation_run,
        .wants_input = conversation_wants_input,
        .is_over = conversation_is_over,
        .output = conversation_output,
        .sent = conversation_sent,
};

Conversation *ingest_connection_conversation(IngestConnection *connection)
{
        return &connection->conversation;
}
