/* SPDX-License-Identifier: MIT */
#include "feed.h"

#include "params.h"
#include "reader.h"
#include "uplink.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * Batches
 *
 * Records are gathered until there are enough of them, and then committed; but never between two
 * events of equal time, for the daemon drops what is at or below the time of the last record that
 * it has of a stream. So a batch is committed when the graph's time has passed its last record.
 * Messages come in the order of their time since the epoch, over all streams: that is what is
 * compared ("order" below).
 *
 * When nothing more comes for now (live), all but the records of the very last time are committed.
 *
 * The same order makes the progress: when a message of some time comes, nothing older will, in any
 * stream.
 */

#define DEFAULT_SOCKET "/run/clrsym/ingest"

enum {
        /* Commit from here on: large enough for few system calls, small enough for both caches. */
        BATCH_SIZE = 128 * 1024,
        /* Commits that the daemon has not answered yet, before the feed waits for it. */
        MAX_IN_FLIGHT = 8,
        /* One wait for the daemon, between two looks at whether the user wants to stop. */
        WAIT_MS = 100,
        /* When stopped before the end: for the daemon to take what is on its way. */
        N_LAST_WAITS = 10,
};

typedef struct Feed {
        bt_self_component_sink *self;  /* borrowed */
        bt_message_iterator *iterator; /* owned */
        char *socket;                  /* owned */
        Uplink *uplink;                /* owned */
        Reader reader;
        uint32_t n_streams; /* opened on the connection so far */

        /* Messages taken over from the iterator: those from i_message on are still to be handled,
         * and owned. */
        bt_message_array_const messages;
        uint64_t n_messages;
        uint64_t i_message;

        GByteArray *batch;   /* owned: frames since the last commit */
        bool has_records;    /* in the batch */
        int64_t last_order;  /* of the batch's last record */
        size_t group_begin;  /* where the records of that time begin in the batch */
        int64_t now;         /* order of the newest message */
        int64_t sent_now;    /* progress sent up to here, to all streams */
        uint64_t n_reported; /* events when the last report was sent */
        uint64_t n_too_large;
        bool tells_all; /* to `clrsym feed`: the progress of streams that were never seen, too */
        bool is_live;   /* upstream tells of such streams */
        uint64_t came;  /* when it told the first, by the clock of this boot; 0: not yet */
        bool is_at_end; /* upstream has ended and the last commit is on its way */
        bool is_failed;
} Feed;

/* What became of one step. */
typedef enum Step {
        STEP_DONE,
        STEP_INTERRUPTED, /* the user wants to stop: nothing was done, it can be tried again */
        STEP_FAILED,      /* an error cause is set */
} Step;

static const Param PARAMS[] = {
        {"socket", PARAM_STRING},
        {"jit", PARAM_BOOL},
        {"quiet", PARAM_BOOL},
};

static Feed *feed_of(bt_self_component_sink *self)
{
        return bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
}

static void feed_free(Feed *feed)
{
        if (!feed)
                return;
        for (; feed->i_message < feed->n_messages; feed->i_message++)
                bt_message_put_ref(feed->messages[feed->i_message]);
        bt_message_iterator_put_ref(feed->iterator);
        uplink_free(feed->uplink);
        reader_deinit(&feed->reader);
        if (feed->batch)
                g_byte_array_unref(feed->batch);
        g_free(feed->socket);
        g_free(feed);
}

bt_component_class_initialize_method_status
feed_initialize(bt_self_component_sink *self_sink,
                bt_self_component_sink_configuration *configuration, const bt_value *params,
                void *data)
{
        bt_self_component *self = bt_self_component_sink_as_self_component(self_sink);
        const char *socket_path;
        Feed *feed;

        if (!params_check(self, params, PARAMS, G_N_ELEMENTS(PARAMS)) ||
            bt_self_component_sink_add_input_port(self_sink, "in", NULL, NULL) !=
                    BT_SELF_COMPONENT_ADD_PORT_STATUS_OK)
                return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;

        feed = g_new0(Feed, 1);
        socket_path = params_string(params, "socket");
        feed->self = self_sink;
        feed->socket = g_strdup(socket_path ? socket_path : DEFAULT_SOCKET);
        feed->batch = g_byte_array_sized_new(2 * BATCH_SIZE);
        feed->tells_all = params_bool(params, "quiet");
        feed->now = INT64_MIN;
        feed->sent_now = INT64_MIN;
        feed->last_order = INT64_MIN;
        reader_init(&feed->reader, self,
                    params_bool(params, "jit") ? EVENT_USE_JIT : EVENT_USE_CODE_MAPS);
        bt_self_component_set_data(self, feed);
        return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

bt_component_class_sink_graph_is_configured_method_status
feed_graph_is_configured(bt_self_component_sink *self)
{
        Feed *feed = feed_of(self);

        feed->uplink = uplink_new(bt_self_component_sink_as_self_component(self), feed->socket);
        if (!feed->uplink) {
                feed->is_failed = true;
                return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
        }
        return reader_create_iterator(self, &feed->iterator);
}

/* Time since the epoch of a clock snapshot; false if it does not fit in 64 bits. */
static bool snapshot_order(const bt_clock_snapshot *snapshot, int64_t *ret_order)
{
        return bt_clock_snapshot_get_ns_from_origin(snapshot, ret_order) ==
               BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK;
}

static void advance(Feed *feed, const bt_message *message)
{
        const bt_clock_snapshot *snapshot = message_clock_snapshot(message);
        int64_t order;

        if (snapshot && snapshot_order(snapshot, &order))
                feed->now = MAX(feed->now, order);
}

/*
 * Of a stream that has come up to TIME. A live session gives us what comes from when we came, so
 * that behind that time nothing is missing, also of streams of which it gives nothing.
 */
static bool is_past_coming(const Feed *feed, const StreamInfo *stream, uint64_t time)
{
        return feed->is_live && stream->identity->boot_id->len && time > feed->came;
}

/* Progress up to now, for streams with records in the batch or for all. */
static void put_progress(Feed *feed, GByteArray *out, bool for_all)
{
        bool tells_all = feed->tells_all;
        GHashTableIter iter;
        void *value;

        if (feed->now == INT64_MIN)
                return;
        g_hash_table_iter_init(&iter, feed->reader.streams.infos);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                StreamInfo *stream = value;
                int64_t time;

                if (!stream->is_open || !(for_all || stream->is_touched))
                        continue;
                stream->is_touched = false;
                /* Where cycles are no ns, the way back may be off by one. */
                if (__builtin_sub_overflow(feed->now, stream->identity->clock_offset, &time) ||
                    __builtin_sub_overflow(time, stream->frequency != 1000000000, &time) ||
                    time <= 0 || (uint64_t)time <= stream->progress)
                        continue;
                stream->progress = (uint64_t)time;
                tells_all |= is_past_coming(feed, stream, stream->progress);
                ingest_put_progress(out, stream->number, stream->progress);
        }
        if (for_all && tells_all && feed->now > 0)
                ingest_put_progress(out, INGEST_ALL_STREAMS, (uint64_t)feed->now);
        if (for_all)
                feed->sent_now = feed->now;
}

static void put_report(Feed *feed, GByteArray *out)
{
        IngestReport report;

        reader_report(&feed->reader, &report);
        report.decode_errors += feed->n_too_large;
        ingest_put_report(out, &report);
        feed->n_reported = feed->reader.n_events;
}

/* Commits the first N bytes of the batch, and what is to be said with them. */
static void commit(Feed *feed, size_t n, bool for_all)
{
        g_autoptr(GByteArray) rest = g_byte_array_new();

        g_byte_array_append(rest, feed->batch->data + n, (guint)(feed->batch->len - n));
        g_byte_array_set_size(feed->batch, (guint)n);
        put_progress(feed, feed->batch, for_all);
        if (for_all && feed->n_reported != feed->reader.n_events)
                put_report(feed, feed->batch);
        uplink_commit(feed->uplink, feed->batch->data, feed->batch->len);
        g_byte_array_set_size(feed->batch, 0);
        g_byte_array_append(feed->batch, rest->data, rest->len);
        feed->group_begin = 0;
        feed->has_records = rest->len > 0;
}

/* Commits what can be: nothing more comes for now. */
static void commit_settled(Feed *feed)
{
        bool is_settled = !feed->has_records || feed->now > feed->last_order;
        size_t n = is_settled ? feed->batch->len : feed->group_begin;

        if (n > 0 || feed->now > feed->sent_now)
                commit(feed, n, true);
}

static Step open_stream(Feed *feed, const bt_message *message)
{
        StreamInfo *stream = streams_info(&feed->reader.streams, message_stream(message));

        if (!stream->has_clock)
                return STEP_DONE;
        if (!stream->is_open) {
                if (feed->n_streams == INGEST_MAX_STREAMS) {
                        BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
                                bt_self_component_sink_as_self_component(feed->self),
                                "more than %u streams: feed fewer traces at a time",
                                INGEST_MAX_STREAMS);
                        return STEP_FAILED;
                }
                stream->number = feed->n_streams++;
                stream->is_open = true;
                uplink_open_stream(feed->uplink, stream->number, stream->identity);
        }
        if (!uplink_exchange(feed->uplink, 0))
                return STEP_FAILED;
        while (!uplink_watermark(feed->uplink, stream->number, &stream->watermark)) {
                if (bt_self_component_sink_is_interrupted(feed->self))
                        return STEP_INTERRUPTED;
                if (!uplink_exchange(feed->uplink, WAIT_MS))
                        return STEP_FAILED;
        }
        return STEP_DONE;
}

static Step add_record(Feed *feed, StreamInfo *stream, const Record *record, int64_t order)
{
        size_t begin;

        if (feed->batch->len >= BATCH_SIZE && order > feed->last_order) {
                commit(feed, feed->batch->len, false);
                if (!uplink_exchange(feed->uplink, 0))
                        return STEP_FAILED;
        }
        begin = feed->batch->len;
        if (!ingest_put_record(feed->batch, stream->number, record)) {
                feed->n_too_large++;
                return STEP_DONE;
        }
        if (feed->batch->len > INGEST_MAX_BATCH) {
                BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
                        bt_self_component_sink_as_self_component(feed->self),
                        "more than %u MiB of events have the same time, and they can only be "
                        "committed together: the trace's clock does not work",
                        INGEST_MAX_BATCH >> 20);
                return STEP_FAILED;
        }
        if (!feed->has_records || order > feed->last_order) {
                feed->group_begin = begin;
                feed->last_order = order;
        }
        feed->has_records = true;
        stream->is_touched = true;
        return STEP_DONE;
}

/*
 * Where the stream begins goes first: if that is not past what the daemon has of it, nothing was
 * lost while nobody fed it, though what is known is skipped here; if it is, it is lost up to there.
 */
static void begin_stream(Feed *feed, StreamInfo *stream, uint64_t time)
{
        if (stream->has_begun || !stream->is_open)
                return;
        stream->has_begun = true;
        stream->progress = time;
        ingest_put_progress(feed->batch, stream->number, time);
}

static void handle_packet_beginning(Feed *feed, const bt_message *message)
{
        const bt_clock_snapshot *snapshot = message_clock_snapshot(message);
        StreamInfo *stream = streams_info(&feed->reader.streams, message_stream(message));

        if (snapshot)
                begin_stream(feed, stream, stream_time(stream, snapshot));
}

static void handle_packet_end(Feed *feed, const bt_message *message)
{
        const bt_clock_snapshot *snapshot = message_clock_snapshot(message);
        StreamInfo *stream = streams_info(&feed->reader.streams, message_stream(message));

        if (snapshot && stream->has_clock)
                stream->end = stream_time(stream, snapshot);
}

static Step handle_event(Feed *feed, const bt_message *message)
{
        const bt_event *event = bt_message_event_borrow_event_const(message);
        const EventInfo *info = reader_event(&feed->reader, event);
        const bt_clock_snapshot *snapshot;
        StreamInfo *stream;
        uint64_t time;
        int64_t order;
        Record record;

        if (!info)
                return STEP_DONE;
        stream = streams_info(&feed->reader.streams, bt_event_borrow_stream_const(event));
        if (!stream->has_clock) {
                reader_refuse_clockless(&feed->reader, stream);
                return STEP_FAILED;
        }
        snapshot = bt_message_event_borrow_default_clock_snapshot_const(message);
        time = stream_time(stream, snapshot);
        if (!snapshot_order(snapshot, &order))
                order = feed->now;
        feed->now = MAX(feed->now, order);
        begin_stream(feed, stream, time);
        if (time <= stream->watermark)
                return STEP_DONE;

        switch (reader_read(&feed->reader, info, stream, event, time, &record)) {
        case READ_RECORD:
                return add_record(feed, stream, &record, order);
        case READ_SKIPPED:
                return STEP_DONE;
        case READ_REFUSED:
                break;
        }
        return STEP_FAILED;
}

static void handle_gap(Feed *feed, const bt_message *message)
{
        const StreamInfo *stream = streams_info(&feed->reader.streams, message_stream(message));
        IngestGap gap;

        if (!stream->is_open)
                return;
        stream_gap(stream, message, &gap);
        ingest_put_gap(feed->batch, stream->number, &gap);
}

static void handle_stream_end(Feed *feed, const bt_message *message)
{
        const bt_stream *bt_stream = message_stream(message);
        const StreamInfo *stream = streams_info(&feed->reader.streams, bt_stream);

        if (stream->is_open) {
                if (stream->end > stream->progress)
                        ingest_put_progress(feed->batch, stream->number, stream->end);
                ingest_put_stream_close(feed->batch, stream->number);
        }
        streams_remove(&feed->reader.streams, bt_stream);
}

static Step handle_message(Feed *feed, const bt_message *message)
{
        switch (bt_message_get_type(message)) {
        case BT_MESSAGE_TYPE_EVENT:
                return handle_event(feed, message);
        case BT_MESSAGE_TYPE_STREAM_BEGINNING:
                return open_stream(feed, message);
        case BT_MESSAGE_TYPE_PACKET_BEGINNING:
                advance(feed, message);
                handle_packet_beginning(feed, message);
                return STEP_DONE;
        case BT_MESSAGE_TYPE_PACKET_END:
                advance(feed, message);
                handle_packet_end(feed, message);
                return STEP_DONE;
        case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
        case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
                advance(feed, message);
                handle_gap(feed, message);
                return STEP_DONE;
        case BT_MESSAGE_TYPE_STREAM_END:
                advance(feed, message);
                handle_stream_end(feed, message);
                return STEP_DONE;
        case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
                feed->is_live = true;
                advance(feed, message);
                return STEP_DONE;
        default:
                advance(feed, message);
                return STEP_DONE;
        }
}

/* Handles the messages at hand. */
static Step handle_messages(Feed *feed)
{
        while (feed->i_message < feed->n_messages) {
                const bt_message *message = feed->messages[feed->i_message];
                Step step = handle_message(feed, message);

                if (step != STEP_DONE)
                        return step;
                /* Events that nobody asked for move the time too, but once is enough. */
                if (feed->i_message == feed->n_messages - 1)
                        advance(feed, message);
                bt_message_put_ref(message);
                feed->i_message++;
        }
        return STEP_DONE;
}

/* Until the daemon lets the feed go on. */
static Step wait_for_room(Feed *feed)
{
        const Uplink *uplink = feed->uplink;

        while (!uplink->is_greeted || !uplink->may_go ||
               uplink_n_in_flight(uplink) >= MAX_IN_FLIGHT) {
                if (bt_self_component_sink_is_interrupted(feed->self))
                        return STEP_INTERRUPTED;
                if (!uplink_exchange(feed->uplink, WAIT_MS))
                        return STEP_FAILED;
        }
        return STEP_DONE;
}

/* Until the daemon has everything. */
static Step wait_for_commits(Feed *feed)
{
        while (uplink_n_in_flight(feed->uplink) > 0) {
                if (bt_self_component_sink_is_interrupted(feed->self))
                        return STEP_INTERRUPTED;
                if (!uplink_exchange(feed->uplink, WAIT_MS))
                        return STEP_FAILED;
        }
        return STEP_DONE;
}

static bt_component_class_sink_consume_method_status status_of(Feed *feed, Step step)
{
        switch (step) {
        case STEP_DONE:
                return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
        case STEP_INTERRUPTED:
                return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
        case STEP_FAILED:
                break;
        }
        feed->is_failed = true;
        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}

bt_component_class_sink_consume_method_status feed_consume(bt_self_component_sink *self)
{
        Feed *feed = feed_of(self);
        Step step;

        if (feed->is_at_end) {
                step = wait_for_commits(feed);
                return step == STEP_DONE ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END
                                         : status_of(feed, step);
        }
        step = wait_for_room(feed);
        if (step != STEP_DONE)
                return status_of(feed, step);

        if (feed->i_message == feed->n_messages) {
                feed->i_message = feed->n_messages = 0;
                switch (bt_message_iterator_next(feed->iterator, &feed->messages,
                                                 &feed->n_messages)) {
                case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
                        if (!feed->came) /* rounded up */
                                feed->came = ((uint64_t)g_get_monotonic_time() + 1) * 1000;
                        break;
                case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
                        commit(feed, feed->batch->len, true);
                        feed->is_at_end = true;
                        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
                case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
                        commit_settled(feed);
                        if (!uplink_exchange(feed->uplink, 0))
                                return status_of(feed, STEP_FAILED);
                        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
                case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
                        feed->is_failed = true;
                        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
                default:
                        return status_of(feed, STEP_FAILED);
                }
        }
        return status_of(feed, handle_messages(feed));
}

/* Stopped before the end: what is settled is still handed over, if the daemon takes it soon. */
static void hand_over(Feed *feed)
{
        unsigned i;

        commit_settled(feed);
        for (i = 0; i < N_LAST_WAITS && uplink_n_in_flight(feed->uplink) > 0; i++)
                if (!uplink_exchange(feed->uplink, WAIT_MS)) {
                        /* Nobody waits for the cause any longer. */
                        bt_current_thread_clear_error();
                        break;
                }
}

void feed_finalize(bt_self_component_sink *self)
{
        Feed *feed = feed_of(self);

        if (!feed)
                return;
        if (feed->uplink && feed->uplink->is_greeted && !feed->is_at_end && !feed->is_failed)
                hand_over(feed);
        reader_print_errors(&feed->reader);
        if (feed->n_too_large)
                fprintf(stderr, "clrsym: %" PRIu64 " events are too large for the daemon\n",
                        feed->n_too_large);
        feed_free(feed);
}
