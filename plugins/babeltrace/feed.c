/* SPDX-License-Identifier: MIT */
#include "feed.h"

#include "params.h"
#include "graph-reader.h"
#include "uplink.h"
#include "util/runtime-path.h"

#include <inttypes.h>
#include <stdio.h>

/*
 * Batches
 *
 * Records are collected into a batch, and then committed. A commit never separates two events of
 * equal time, because the daemon drops records that are not later than a stream's last record. So a
 * batch is committed only when the graph's time is later than its last record. Messages come in the
 * order of their time since the epoch, over all streams; that time is compared ("order" below).
 *
 * When no messages are left for now (live), all records except those of the last time are
 * committed.
 *
 * The order also gives the progress: after a message, no stream has an older one.
 */

#define DEFAULT_SOCKET RUNTIME_SYSTEM "/" RUNTIME_INGEST

enum {
        /* One wait for the daemon, before the next check for an interrupt. */
        WAIT_MS = 100,
        /* Waits for the daemon's acknowledgements if the graph is stopped early. */
        N_LAST_WAITS = 10,
};

typedef struct Feed {
        bt_self_component_sink *self;  /* borrowed */
        bt_message_iterator *iterator; /* owned */
        char *socket;                  /* owned */
        Uplink *uplink;                /* owned */
        GraphReader reader;

        /* Messages from the iterator: those from i_message on are unhandled, and owned. */
        bt_message_array_const messages;
        uint64_t n_messages;
        uint64_t i_message;

        IngestClient *client; /* borrowed from the uplink */
        int64_t now;          /* order of the last message */
        int64_t sent_now;     /* progress that was sent for all streams */
        uint64_t n_reported;  /* number of events at the last report */
        uint64_t n_too_large;
        bool is_live;   /* upstream has reported inactivity */
        uint64_t began; /* ns of CLOCK_MONOTONIC: arrival of the first messages; 0: none yet */
        bool is_at_end; /* upstream has ended, and the last commit was sent */
        bool is_failed;
} Feed;

/* The result of a step. */
typedef enum Step {
        STEP_DONE,
        STEP_INTERRUPTED, /* interrupted by the user: nothing was done, retry is possible */
        STEP_FAILED,      /* failed: an error cause is set */
} Step;

static const Param PARAMS[] = {
        {"socket", PARAM_STRING},
        {"jit", PARAM_BOOL},
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
        graph_reader_deinit(&feed->reader);
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
        feed->now = INT64_MIN;
        feed->sent_now = INT64_MIN;
        graph_reader_init(&feed->reader, self,
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
        feed->client = ingest_uplink_client(feed->uplink->link);
        return graph_reader_create_iterator(self, &feed->iterator);
}

static GByteArray *feed_batch(Feed *feed)
{
        return ingest_client_batch(feed->client);
}

/* The time of a clock snapshot since the epoch. False: it does not fit into 64 bits. */
static bool snapshot_order(const bt_clock_snapshot *snapshot, int64_t *ret_order)
{
        return bt_clock_snapshot_get_ns_from_origin(snapshot, ret_order) ==
               BT_CLOCK_SNAPSHOT_GET_NS_FROM_ORIGIN_STATUS_OK;
}

static void feed_advance(Feed *feed, const bt_message *message)
{
        const bt_clock_snapshot *snapshot = message_clock_snapshot(message);
        int64_t order;

        if (snapshot && snapshot_order(snapshot, &order))
                feed->now = MAX(feed->now, order);
}

/*
 * True if a stream's progress up to TIME is later than the attach. A live session delivers all
 * later events, so none is missing, also in streams without events.
 */
static bool feed_is_past_attaching(const Feed *feed, const GraphStream *stream, uint64_t time)
{
        return feed->is_live && stream->identity->boot_id->len && time > feed->began;
}

/* Appends the progress up to now: for streams with records in the batch, or for all streams. */
static void feed_put_progress(Feed *feed, GByteArray *out, bool for_all)
{
        bool reports_all = false;
        GHashTableIter iter;
        void *value;

        if (feed->now == INT64_MIN)
                return;
        g_hash_table_iter_init(&iter, feed->reader.streams.infos);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                GraphStream *stream = value;
                int64_t time;

                if (!stream->open || !(for_all || stream->is_touched))
                        continue;
                stream->is_touched = false;
                /* If the clock does not count ns, the conversion back may be off by one. */
                if (__builtin_sub_overflow(feed->now, stream->identity->clock_offset, &time) ||
                    __builtin_sub_overflow(time, stream->frequency != 1000000000, &time) ||
                    time <= 0 || (uint64_t)time <= stream->progress)
                        continue;
                stream->progress = (uint64_t)time;
                reports_all |= feed_is_past_attaching(feed, stream, stream->progress);
                ingest_put_progress(out, stream->open->number, stream->progress);
        }
        if (for_all && reports_all && feed->now > 0)
                ingest_put_progress(out, INGEST_ALL_STREAMS, (uint64_t)feed->now);
        if (for_all)
                feed->sent_now = feed->now;
}

static void feed_put_report(Feed *feed, GByteArray *out)
{
        FeederReport report;

        graph_reader_report(&feed->reader, &report);
        report.decode_errors += feed->n_too_large;
        ingest_put_report(out, &report);
        feed->n_reported = feed->reader.n_events;
}

/* Commits the first N bytes of the batch, then the progress of all streams. */
static void feed_commit(Feed *feed, size_t n, bool for_all)
{
        g_autoptr(GByteArray) last = g_byte_array_new();

        feed_put_progress(feed, last, for_all);
        if (for_all && feed->n_reported != feed->reader.n_events)
                feed_put_report(feed, last);
        ingest_client_commit(feed->client, n, last);
}

/* Commits all records that no further record of equal time can follow for now. */
static void feed_commit_settled(Feed *feed)
{
        size_t n = ingest_client_settled(feed->client, feed->now);

        if (n > 0 || feed->now > feed->sent_now)
                feed_commit(feed, n, true);
}

static Step feed_open_stream(Feed *feed, const bt_message *message)
{
        GraphStream *stream = graph_streams_get(&feed->reader.streams, message_stream(message));

        if (!stream->has_clock)
                return STEP_DONE;
        if (!stream->open) {
                stream->open = ingest_client_open(feed->client, stream->identity, NULL);
                if (!stream->open) {
                        BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
                                bt_self_component_sink_as_self_component(feed->self),
                                "more than %u streams: feed fewer traces at a time",
                                INGEST_MAX_STREAMS);
                        return STEP_FAILED;
                }
        }
        if (!uplink_exchange(feed->uplink, 0))
                return STEP_FAILED;
        while (!stream->open->is_known) {
                if (bt_self_component_sink_is_interrupted(feed->self))
                        return STEP_INTERRUPTED;
                if (!uplink_exchange(feed->uplink, WAIT_MS))
                        return STEP_FAILED;
        }
        /* Later acknowledgements are for feeders that keep sent records until they are safe. */
        stream->watermark = stream->open->watermark;
        return STEP_DONE;
}

static Step feed_add_record(Feed *feed, GraphStream *stream, const Record *record, int64_t order)
{
        if (ingest_client_is_due(feed->client, order)) {
                feed_commit(feed, feed_batch(feed)->len, false);
                if (!uplink_exchange(feed->uplink, 0))
                        return STEP_FAILED;
        }
        switch (ingest_client_put_record(feed->client, stream->open, record, order)) {
        case INGEST_PUT_DONE:
                break;
        case INGEST_PUT_TOO_LARGE:
                feed->n_too_large++;
                return STEP_DONE;
        case INGEST_PUT_BATCH_FULL:
                BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(
                        bt_self_component_sink_as_self_component(feed->self),
                        "more than %u MiB of events have the same time, and they can only be "
                        "committed together: the trace's clock does not work",
                        INGEST_MAX_BATCH >> 20);
                return STEP_FAILED;
        }
        stream->is_touched = true;
        return STEP_DONE;
}

/*
 * Sends where a stream begins, in its first frame. If the daemon already has the stream up to
 * there, nothing was lost without a feeder, even though known records are skipped; else the time in
 * between is a gap.
 */
static void feed_begin_stream(Feed *feed, GraphStream *stream, uint64_t time)
{
        if (stream->has_begun || !stream->open)
                return;
        stream->has_begun = true;
        stream->progress = time;
        ingest_put_progress(feed_batch(feed), stream->open->number, time);
}

static void feed_handle_packet_beginning(Feed *feed, const bt_message *message)
{
        const bt_clock_snapshot *snapshot = message_clock_snapshot(message);
        GraphStream *stream = graph_streams_get(&feed->reader.streams, message_stream(message));

        if (snapshot)
                feed_begin_stream(feed, stream, graph_stream_time(stream, snapshot));
}

static void feed_handle_packet_end(Feed *feed, const bt_message *message)
{
        const bt_clock_snapshot *snapshot = message_clock_snapshot(message);
        GraphStream *stream = graph_streams_get(&feed->reader.streams, message_stream(message));

        if (snapshot && stream->has_clock)
                stream->end = graph_stream_time(stream, snapshot);
}

static Step feed_handle_event(Feed *feed, const bt_message *message)
{
        const bt_event *event = bt_message_event_borrow_event_const(message);
        const EventClass *info = graph_reader_event(&feed->reader, event);
        const bt_clock_snapshot *snapshot;
        GraphStream *stream;
        uint64_t time;
        int64_t order;
        Record record;

        if (!info)
                return STEP_DONE;
        stream = graph_streams_get(&feed->reader.streams, bt_event_borrow_stream_const(event));
        if (!stream->has_clock) {
                graph_reader_refuse_clockless(&feed->reader, stream);
                return STEP_FAILED;
        }
        snapshot = bt_message_event_borrow_default_clock_snapshot_const(message);
        time = graph_stream_time(stream, snapshot);
        if (!snapshot_order(snapshot, &order))
                order = feed->now;
        feed->now = MAX(feed->now, order);
        feed_begin_stream(feed, stream, time);
        if (time <= stream->watermark)
                return STEP_DONE;

        switch (graph_reader_read(&feed->reader, info, stream, event, time, &record)) {
        case READ_RECORD:
                return feed_add_record(feed, stream, &record, order);
        case READ_SKIPPED:
                return STEP_DONE;
        case READ_REFUSED:
                break;
        }
        return STEP_FAILED;
}

static void feed_handle_gap(Feed *feed, const bt_message *message)
{
        const GraphStream *stream =
                graph_streams_get(&feed->reader.streams, message_stream(message));
        StreamGap gap;

        if (!stream->open)
                return;
        graph_stream_gap(stream, message, &gap);
        ingest_put_gap(feed_batch(feed), stream->open->number, &gap);
}

static void feed_handle_stream_end(Feed *feed, const bt_message *message)
{
        const bt_stream *bt_stream = message_stream(message);
        const GraphStream *stream = graph_streams_get(&feed->reader.streams, bt_stream);

        if (stream->open) {
                if (stream->end > stream->progress)
                        ingest_put_progress(feed_batch(feed), stream->open->number, stream->end);
                ingest_put_stream_close(feed_batch(feed), stream->open->number);
        }
        graph_streams_remove(&feed->reader.streams, bt_stream);
}

static Step feed_handle_message(Feed *feed, const bt_message *message)
{
        switch (bt_message_get_type(message)) {
        case BT_MESSAGE_TYPE_EVENT:
                return feed_handle_event(feed, message);
        case BT_MESSAGE_TYPE_STREAM_BEGINNING:
                return feed_open_stream(feed, message);
        case BT_MESSAGE_TYPE_PACKET_BEGINNING:
                feed_advance(feed, message);
                feed_handle_packet_beginning(feed, message);
                return STEP_DONE;
        case BT_MESSAGE_TYPE_PACKET_END:
                feed_advance(feed, message);
                feed_handle_packet_end(feed, message);
                return STEP_DONE;
        case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
        case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
                feed_advance(feed, message);
                feed_handle_gap(feed, message);
                return STEP_DONE;
        case BT_MESSAGE_TYPE_STREAM_END:
                feed_advance(feed, message);
                feed_handle_stream_end(feed, message);
                return STEP_DONE;
        case BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY:
                feed->is_live = true;
                feed_advance(feed, message);
                return STEP_DONE;
        default:
                feed_advance(feed, message);
                return STEP_DONE;
        }
}

/* Handles the messages from the iterator. */
static Step feed_handle_messages(Feed *feed)
{
        while (feed->i_message < feed->n_messages) {
                const bt_message *message = feed->messages[feed->i_message];
                Step step = feed_handle_message(feed, message);

                if (step != STEP_DONE)
                        return step;
                /*
                 * Unwanted events advance the time, too, but one update for all messages is enough.
                 */
                if (feed->i_message == feed->n_messages - 1)
                        feed_advance(feed, message);
                bt_message_put_ref(message);
                feed->i_message++;
        }
        return STEP_DONE;
}

/* Waits until the daemon lets the feed continue. */
static Step feed_wait_for_room(Feed *feed)
{
        while (!ingest_client_may_send(feed->client)) {
                if (bt_self_component_sink_is_interrupted(feed->self))
                        return STEP_INTERRUPTED;
                if (!uplink_exchange(feed->uplink, WAIT_MS))
                        return STEP_FAILED;
        }
        return STEP_DONE;
}

/* Waits until the daemon has acknowledged all. */
static Step feed_wait_for_commits(Feed *feed)
{
        while (ingest_client_n_in_flight(feed->client) > 0) {
                if (bt_self_component_sink_is_interrupted(feed->self))
                        return STEP_INTERRUPTED;
                if (!uplink_exchange(feed->uplink, WAIT_MS))
                        return STEP_FAILED;
        }
        return STEP_DONE;
}

static bt_component_class_sink_consume_method_status feed_status(Feed *feed, Step step)
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
                step = feed_wait_for_commits(feed);
                return step == STEP_DONE ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END
                                         : feed_status(feed, step);
        }
        step = feed_wait_for_room(feed);
        if (step != STEP_DONE)
                return feed_status(feed, step);

        if (feed->i_message == feed->n_messages) {
                feed->i_message = feed->n_messages = 0;
                switch (bt_message_iterator_next(feed->iterator, &feed->messages,
                                                 &feed->n_messages)) {
                case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
                        if (!feed->began) /* rounded up */
                                feed->began = ((uint64_t)g_get_monotonic_time() + 1) * 1000;
                        break;
                case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
                        feed_commit(feed, feed_batch(feed)->len, true);
                        feed->is_at_end = true;
                        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK;
                case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
                        feed_commit_settled(feed);
                        if (!uplink_exchange(feed->uplink, 0))
                                return feed_status(feed, STEP_FAILED);
                        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
                case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
                        feed->is_failed = true;
                        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
                default:
                        return feed_status(feed, STEP_FAILED);
                }
        }
        return feed_status(feed, feed_handle_messages(feed));
}

/* Stopped early: sends the settled records, if the daemon accepts them soon. */
static void feed_hand_over(Feed *feed)
{
        unsigned i;

        feed_commit_settled(feed);
        for (i = 0; i < N_LAST_WAITS && ingest_client_n_in_flight(feed->client) > 0; i++)
                if (!uplink_exchange(feed->uplink, WAIT_MS)) {
                        /* Nobody would print the cause now. */
                        bt_current_thread_clear_error();
                        break;
                }
}

void feed_finalize(bt_self_component_sink *self)
{
        Feed *feed = feed_of(self);

        if (!feed)
                return;
        if (feed->client && ingest_client_state(feed->client) >= INGEST_CLIENT_HELD &&
            !feed->is_at_end && !feed->is_failed)
                feed_hand_over(feed);
        graph_reader_print_errors(&feed->reader);
        if (feed->n_too_large)
                fprintf(stderr, "clrsym: %" PRIu64 " events are too large for the daemon\n",
                        feed->n_too_large);
        feed_free(feed);
}
