/* SPDX-License-Identifier: MIT */
#include "feed/live.h"

#include "feed/live-merge.h"
#include "feed/viewer-link.h"
#include "util/message.h"

#include <string.h>

/* ms; questions due within this time are asked together: a wake-up costs more than a question. */
#define TOGETHER_MS 3
/* ms until a packet that is not available yet is requested again. */
#define PACKET_RETRY_MS 5
/* ms until metadata is requested again that does not declare the stream of a packet. */
#define METADATA_RETRY_MS 100
#define METADATA_PATIENCE (10 * G_TIME_SPAN_SECOND)
/* ms between questions for new streams, unless a flag announces some with an index. */
#define NEW_STREAMS_MS   1000
#define FIRST_STREAMS_MS 200

static const char NO_STREAM[] = "the metadata declares no stream";

typedef enum LiveState {
        LIVE_CONNECTING,
        LIVE_LISTING,
        LIVE_ATTACHING,
        LIVE_ATTACHED,
        LIVE_ENDED,
} LiveState;

/* A session of the relay daemon. */
typedef struct LiveSession {
        uint64_t id;
        bool is_over;
        bool wants_streams; /* there are new streams */
        bool is_asked;
} LiveSession;

struct Live {
        StreamTable *table; /* borrowed */
        LiveSettings settings;
        const LiveCalls *calls;
        void *data;
        ViewerLink *viewer; /* owned */
        LiveState state;
        bool is_connected;
        bool is_merging;
        LiveMerge merge;
        unsigned n_attaching;
        unsigned period_us;           /* period of the live timer */
        GPtrArray *sessions, *traces; /* owned */
        uint64_t n_held, n_reported;
        gint64 next_new_streams;
        guint timer;
        LiveEnd end;
        char *reason; /* owned: reason of the end */
        guint end_source;
};

static gboolean live_on_timer(gpointer data);

static void live_trace_free(void *data)
{
        LiveTrace *trace = data;

        g_clear_pointer(&trace->text, g_byte_array_unref);
        trace_metadata_unref(trace->metadata);
        g_free(trace->trouble);
        g_free(trace);
}

static void live_stream_free(void *data)
{
        LiveStream *stream = data;

        if (stream->feed && stream->feed->state == STREAM_LIVE)
                stream->feed->state = STREAM_KNOWN;
        if (stream->has_items)
                ctf_data_stream_drop_packet(stream->feed->data);
        g_byte_array_unref(stream->packet);
        trace_metadata_unref(stream->metadata);
        g_free(stream);
}

static gboolean live_on_end(gpointer data)
{
        Live *live = data;

        live->end_source = 0;
        live->calls->ended(live->data, live->end, live->reason);
        return G_SOURCE_REMOVE;
}

/* Only marks LIVE as ended, because a caller may still use LIVE. The main loop calls `ended` later,
 * and the host frees LIVE there. */
static void live_end(Live *live, LiveEnd end, const char *reason)
{
        if (live->state == LIVE_ENDED)
                return;
        live->state = LIVE_ENDED;
        live->end = end;
        live->reason = g_strdup(reason);
        live->end_source = g_idle_add(live_on_end, live);
}

static void G_GNUC_PRINTF(2, 3) live_break(Live *live, const char *format, ...)
{
        g_autofree char *reason = NULL;
        va_list arguments;

        va_start(arguments, format);
        reason = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        live_end(live, LIVE_END_BROKEN, reason);
}

/* Requests */

static void live_ask(Live *live, ViewerCommand command, uint64_t id, void *subject)
{
        viewer_put_id(viewer_link_output(live->viewer), command, id);
        viewer_link_put(live->viewer, command, subject);
}

static void live_ask_metadata(Live *live, LiveTrace *trace)
{
        if (trace->is_asked || !trace->has_metadata_stream)
                return;
        trace->is_asked = true;
        live_ask(live, VIEWER_GET_METADATA, trace->metadata_stream, trace);
}

static void live_ask_streams(Live *live)
{
        guint i;

        for (i = 0; i < live->sessions->len; i++) {
                LiveSession *session = live->sessions->pdata[i];

                if (session->is_asked || session->is_over)
                        continue;
                session->is_asked = true;
                live_ask(live, VIEWER_GET_NEW_STREAMS, session->id, session);
        }
}

static void live_ask_packet(Live *live, LiveStream *stream)
{
        if (stream->trace->wants_metadata || stream->trace->is_asked) {
                live_ask_metadata(live, stream->trace);
                return;
        }
        stream->state = LIVE_STREAM_GETTING;
        viewer_put_get_packet(viewer_link_output(live->viewer), stream->id, stream->index.offset,
                              (uint32_t)(stream->index.packet_bits / 8));
        viewer_link_put(live->viewer, VIEWER_GET_PACKET, stream);
}

static void live_ask_index(Live *live, LiveStream *stream)
{
        stream->state = LIVE_STREAM_ASKED;
        live_ask(live, VIEWER_GET_NEXT_INDEX, stream->id, stream);
}

/* Streams that wait for this metadata continue. */
static void live_on_new_metadata(Live *live, const LiveTrace *trace)
{
        guint i;

        for (i = 0; i < live->merge.streams->len; i++) {
                LiveStream *stream = live->merge.streams->pdata[i];

                if (stream->trace == trace && stream->state == LIVE_STREAM_NEEDED)
                        live_ask_packet(live, stream);
        }
}

/* Parses new metadata. False: the trace cannot be read with it. */
static bool live_trace_parse(Live *live, LiveTrace *trace)
{
        size_t n = trace_metadata_whole(trace->text->data, trace->text->len);
        g_autoptr(GError) error = NULL;
        TraceMetadata *metadata;

        if (n == trace->n_parsed)
                return trace->metadata != NULL;
        trace->n_parsed = n;
        metadata = trace_metadata_new(trace->text->data, n, live->merge.feed->use,
                                      live->merge.feed->counts, &error);
        g_free(trace->trouble);
        trace->trouble = metadata ? NULL : g_strdup(error->message);
        if (!metadata)
                return trace->metadata != NULL;
        trace_metadata_unref(trace->metadata);
        trace->metadata = metadata;
        return true;
}

/* Streams */

static LiveTrace *live_trace(Live *live, uint64_t id)
{
        LiveTrace *trace;
        guint i;

        for (i = 0; i < live->traces->len; i++) {
                trace = live->traces->pdata[i];
                if (trace->id == id)
                        return trace;
        }
        trace = g_new0(LiveTrace, 1);
        trace->id = id;
        trace->text = g_byte_array_new();
        trace->wants_metadata = true;
        g_ptr_array_add(live->traces, trace);
        return trace;
}

static void live_add_stream(Live *live, const ViewerStream *row)
{
        LiveTrace *trace = live_trace(live, row->trace_id);
        LiveStream *stream;

        /* Its metadata is not kept, and the relay daemon sends it to each viewer once. */
        if (trace->is_over) {
                live_end(live, LIVE_END_LOST, "a trace that had ended has new streams");
                return;
        }
        if (row->is_metadata) {
                trace->has_metadata_stream = true;
                trace->metadata_stream = row->id;
                live_ask_metadata(live, trace);
                return;
        }
        if (live->merge.streams->len == INGEST_MAX_STREAMS) {
                live_break(live, "the session has more than %u streams", INGEST_MAX_STREAMS);
                return;
        }
        stream = g_new0(LiveStream, 1);
        stream->id = row->id;
        stream->trace = trace;
        stream->packet = g_byte_array_new();
        stream->known = INT64_MIN;
        stream->last_sign = g_get_monotonic_time();
        live_pace_init(&stream->pace, live->period_us);
        trace->n_streams++;
        g_ptr_array_add(live->merge.streams, stream);
}

/* Prints a line about a stream without an identity, once. */
static void live_stream_print(LiveStream *stream, const char *reason)
{
        if (!stream->has_printed)
                message_print("clrsym feed", "a stream's first packet is lost: %s", reason);
        stream->has_printed = true;
}

/* Identifies the stream of the first packet. False: the packet is unusable. */
static bool live_stream_identify(Live *live, LiveStream *stream)
{
        CtfLayout *layout = trace_metadata_layout(stream->metadata);
        const uint8_t *uuid = trace_metadata_uuid(stream->metadata);
        g_autoptr(GError) error = NULL;
        CtfPacket packet;
        StreamKey key;

        if (stream->feed)
                return true;
        if (!layout || !uuid ||
            !ctf_packet_parse(stream->packet->data, stream->packet->len, &layout, &packet,
                              &error)) {
                live_stream_print(stream, error ? error->message : NO_STREAM);
                return false;
        }
        key = (StreamKey){.class_id = layout->stream->id, .stream_id = packet.stream_id};
        memcpy(key.uuid, uuid, sizeof(key.uuid));
        stream->feed = stream_table_get(live->table, &key);
        if (!trace_metadata_identify(stream->metadata, stream->feed) ||
            !outlet_open(live->merge.feed->outlet, stream->feed)) {
                live_stream_print(stream, stream->feed->identity ? "too many streams are open"
                                                                 : "the stream has no clock");
                stream->feed = NULL;
                return false;
        }
        stream->feed->ended = 0;
        stream->held = ++live->n_held;
        return true;
}

/* A packet that the relay daemon does not hand out is lost. */
static void live_stream_lose_packet(Live *live, LiveStream *stream, const char *reason)
{
        if (stream->feed && stream->feed->state == STREAM_LIVE)
                packet_feed_lose(live->merge.feed, OUTLET_LIVE, stream->feed,
                                 live_stream_ns(stream, stream->index.begin),
                                 live_stream_ns(stream, stream->index.end), reason);
        else
                live_stream_print(stream, reason);
        live_stream_end_packet(stream);
}

/* The relay daemon can hand out a packet when it has only a part of the metadata, and no more for
 * now: then the packet is requested again. False: the wait is over, or all metadata is there. */
static bool live_stream_awaits_metadata(LiveStream *stream)
{
        LiveTrace *trace = stream->trace;
        gint64 now = g_get_monotonic_time();

        if (trace->metadata && trace_metadata_layout(trace->metadata))
                return false;
        if (!stream->awaits_since)
                stream->awaits_since = now;
        if (now - stream->awaits_since > METADATA_PATIENCE)
                return false;
        trace->wants_metadata = true;
        stream->state = LIVE_STREAM_NEEDED;
        stream->pace.next = now + METADATA_RETRY_MS * 1000;
        return true;
}

/* A packet has arrived completely. */
static void live_stream_take_packet(Live *live, LiveStream *stream, const ViewerReply *reply)
{
        bool can_read = live_trace_parse(live, stream->trace);

        if (live_stream_awaits_metadata(stream))
                return;
        if (!can_read) {
                live_stream_lose_packet(
                        live, stream, stream->trace->trouble ? stream->trace->trouble : NO_STREAM);
                return;
        }
        g_byte_array_set_size(stream->packet, 0);
        g_byte_array_append(stream->packet, reply->bytes, (guint)reply->n_bytes);
        stream->metadata = trace_metadata_ref(stream->trace->metadata);
        if (!live_stream_identify(live, stream)) {
                live_stream_end_packet(stream);
                return;
        }
        stream->state = LIVE_STREAM_PACKET;
}

/* What to ask for next */

static void live_set_timer(Live *live)
{
        gint64 now = g_get_monotonic_time(), next = live->next_new_streams;
        /* When the daemon has room again, live_go_on() is called. */
        bool may_put = outlet_may_put(live->merge.feed->outlet);
        guint i;

        for (i = 0; may_put && i < live->merge.streams->len; i++) {
                const LiveStream *stream = live->merge.streams->pdata[i];

                if (stream->state == LIVE_STREAM_IDLE || stream->state == LIVE_STREAM_NEEDED)
                        next = MIN(next, stream->pace.next);
        }
        g_clear_handle_id(&live->timer, g_source_remove);
        if (live->state == LIVE_ATTACHED)
                live->timer = g_timeout_add((guint)(MAX(next - now, 0) + 999) / 1000, live_on_timer,
                                            live);
}

/* Sends all requests that are due. */
static void live_poll(Live *live)
{
        gint64 now = g_get_monotonic_time() + TOGETHER_MS * 1000;
        bool may_put = outlet_may_put(live->merge.feed->outlet), wants_streams = false;
        guint i;

        for (i = 0; i < live->sessions->len; i++)
                wants_streams |= ((const LiveSession *)live->sessions->pdata[i])->wants_streams;
        if (wants_streams || live->next_new_streams <= now) {
                live->next_new_streams =
                        now + 1000 * (live->merge.streams->len ? NEW_STREAMS_MS : FIRST_STREAMS_MS);
                live_ask_streams(live);
                for (i = 0; i < live->traces->len; i++) {
                        LiveTrace *trace = live->traces->pdata[i];

                        if (trace->wants_metadata)
                                live_ask_metadata(live, trace);
                }
        }
        for (i = 0; may_put && i < live->merge.streams->len; i++) {
                LiveStream *stream = live->merge.streams->pdata[i];

                if (stream->state == LIVE_STREAM_IDLE && stream->pace.next <= now)
                        live_ask_index(live, stream);
                else if (stream->state == LIVE_STREAM_NEEDED && stream->pace.next <= now) {
                        stream->pace.next = now + PACKET_RETRY_MS * 1000;
                        live_ask_packet(live, stream);
                }
        }
}

static bool live_is_over(const Live *live)
{
        guint i;

        for (i = 0; i < live->sessions->len; i++)
                if (!((const LiveSession *)live->sessions->pdata[i])->is_over)
                        return false;
        return live->merge.streams->len == 0;
}

static void live_pump(Live *live)
{
        if (live->state != LIVE_ATTACHED || live->is_merging)
                return;
        live->is_merging = true;
        live_merge(&live->merge);
        live->is_merging = false;
        if (live_is_over(live)) {
                live_end(live, LIVE_END_NO_SESSION, "the session has ended");
                return;
        }
        live_poll(live);
        viewer_link_flush(live->viewer);
        live_set_timer(live);
        if (live->n_reported < live->n_held) {
                live->n_reported = live->n_held;
                live->calls->held(live->data);
        }
}

static gboolean live_on_timer(gpointer data)
{
        Live *live = data;

        live->timer = 0;
        live_pump(live);
        return G_SOURCE_REMOVE;
}

/* Replies */

static void live_on_connected(Live *live, const ViewerReply *reply)
{
        if (reply->major != VIEWER_MAJOR || reply->minor < VIEWER_MIN_MINOR) {
                live_break(live,
                           "lttng-relayd speaks version %u.%u of the viewers' protocol, not "
                           "%u.%u",
                           reply->major, reply->minor, VIEWER_MAJOR, VIEWER_MINOR);
                return;
        }
        live->is_connected = true;
        live->state = LIVE_LISTING;
        viewer_put_empty(viewer_link_output(live->viewer), VIEWER_CREATE_SESSION);
        viewer_link_put(live->viewer, VIEWER_CREATE_SESSION, NULL);
        viewer_put_empty(viewer_link_output(live->viewer), VIEWER_LIST_SESSIONS);
        viewer_link_put(live->viewer, VIEWER_LIST_SESSIONS, NULL);
}

static void live_on_session(Live *live, const ViewerReply *reply)
{
        const ViewerSession *row = &reply->session;
        LiveSession *session;

        if (reply->is_row && row->timer_us > 0 && !strcmp(row->name, live->settings.session) &&
            !strncmp(row->host, live->settings.target, VIEWER_HOST_SIZE - 1)) {
                session = g_new0(LiveSession, 1);
                session->id = row->id;
                live->period_us = MAX(live->period_us, row->timer_us);
                g_ptr_array_add(live->sessions, session);
                live->n_attaching++;
                viewer_put_attach(viewer_link_output(live->viewer), row->id);
                viewer_link_put(live->viewer, VIEWER_ATTACH_SESSION, session);
        }
        if (!reply->is_last)
                return;
        live->state = LIVE_ATTACHING;
        if (live->sessions->len == 0)
                live_end(live, LIVE_END_NO_SESSION, "there is no such session");
}

static void live_on_attached(Live *live, LiveSession *session, const ViewerReply *reply)
{
        if (reply->is_row)
                live_add_stream(live, &reply->stream);
        switch ((ViewerAttachStatus)reply->status) {
        case VIEWER_ATTACH_OK:
                break;
        case VIEWER_ATTACH_ALREADY:
                live_end(live, LIVE_END_BUSY, "another viewer has the session");
                return;
        case VIEWER_ATTACH_UNKNOWN: /* the session has ended meanwhile */
                session->is_over = true;
                break;
        default:
                live_break(live, "lttng-relayd refuses to attach to the session (status %u)",
                           reply->status);
                return;
        }
        if (!reply->is_last || --live->n_attaching > 0 || live->state != LIVE_ATTACHING)
                return;
        live->state = LIVE_ATTACHED;
        live->calls->attached(live->data);
}

static void live_on_streams(Live *live, LiveSession *session, const ViewerReply *reply)
{
        if (reply->is_row)
                live_add_stream(live, &reply->stream);
        if (reply->is_last) {
                session->is_asked = session->wants_streams = false;
                session->is_over = reply->status == VIEWER_STREAMS_HUP ||
                                   reply->status == VIEWER_STREAMS_ERROR;
        }
}

static void live_on_metadata(Live *live, LiveTrace *trace, const ViewerReply *reply)
{
        trace->is_asked = false;
        if (trace->is_over)
                return;
        switch ((ViewerMetadataStatus)reply->status) {
        case VIEWER_METADATA_OK:
                if (reply->n_bytes > VIEWER_MAX_METADATA - trace->text->len) {
                        message_print("clrsym feed", "the metadata of a trace is over %u MiB",
                                      VIEWER_MAX_METADATA >> 20);
                        trace->wants_metadata = false;
                        break;
                }
                g_byte_array_append(trace->text, reply->bytes, (guint)reply->n_bytes);
                /* Metadata is requested until no more comes. An empty piece changes nothing. */
                if (reply->n_bytes > 0)
                        live_ask_metadata(live, trace);
                return;
        case VIEWER_METADATA_NO_NEW:
                /* A trace without metadata has not begun. */
                trace->wants_metadata = trace->text->len == 0;
                break;
        default:
                trace->wants_metadata = false;
                break;
        }
        if (!trace->wants_metadata)
                live_on_new_metadata(live, trace);
}

static void live_take_flags(Live *live, LiveStream *stream, uint32_t flags)
{
        guint i;

        if (flags & VIEWER_FLAG_NEW_METADATA) {
                stream->trace->wants_metadata = true;
                live_ask_metadata(live, stream->trace);
        }
        for (i = 0; flags & VIEWER_FLAG_NEW_STREAM && i < live->sessions->len; i++)
                ((LiveSession *)live->sessions->pdata[i])->wants_streams = true;
}

/* A sign of the stream, at a value of its clock. RET_ORDER: ns since 1970. False: not known. */
static bool live_stream_take_sign(Live *live, LiveStream *stream, uint64_t cycles, bool is_tick,
                                  int64_t *ret_order)
{
        bool has_order = live_trace_parse(live, stream->trace) &&
                         trace_metadata_order(stream->trace->metadata, cycles, ret_order);

        stream->last_sign = g_get_monotonic_time();
        live_pace_take_sign(&stream->pace, stream->last_sign,
                            has_order ? *ret_order / 1000 : G_MININT64, is_tick);
        return has_order;
}

static void live_stream_take_nothing(LiveStream *stream)
{
        stream->state = LIVE_STREAM_IDLE;
        live_pace_take_nothing(&stream->pace, g_get_monotonic_time());
}

static void live_stream_take_beacon(Live *live, LiveStream *stream, uint64_t beacon)
{
        int64_t order;

        if (beacon == stream->beacon || beacon == UINT64_MAX) {
                live_stream_take_nothing(stream);
                return;
        }
        stream->state = LIVE_STREAM_IDLE;
        if (!live_stream_take_sign(live, stream, beacon, true, &order))
                return;
        stream->beacon = beacon;
        stream->known = MAX(stream->known, order);
}

static void live_stream_take_index(Live *live, LiveStream *stream, const ViewerIndex *index)
{
        bool is_partial = index->packet_bits < stream->largest;
        int64_t ignored;

        stream->index = *index;
        stream->largest = MAX(stream->largest, index->packet_bits);
        /* A full buffer's packet has the size of the buffer. */
        live_stream_take_sign(live, stream, index->end, is_partial, &ignored);
        if (index->packet_bits / 8 > VIEWER_MAX_PACKET || index->packet_bits == 0) {
                live_stream_lose_packet(live, stream, "its size is wrong");
                return;
        }
        stream->state = LIVE_STREAM_NEEDED;
        live_ask_packet(live, stream);
}

static void live_on_index(Live *live, LiveStream *stream, const ViewerReply *reply)
{
        live_take_flags(live, stream, reply->flags);
        switch ((ViewerIndexStatus)reply->status) {
        case VIEWER_INDEX_OK:
                live_stream_take_index(live, stream, &reply->index);
                break;
        case VIEWER_INDEX_INACTIVE:
                live_stream_take_beacon(live, stream, reply->index.end);
                break;
        case VIEWER_INDEX_HUP:
                stream->state = LIVE_STREAM_OVER;
                break;
        case VIEWER_INDEX_RETRY:
        case VIEWER_INDEX_EOF:
                live_stream_take_nothing(stream);
                break;
        default:
                live_break(live, "lttng-relayd cannot read the index of a stream (status %u)",
                           reply->status);
                break;
        }
}

static void live_on_packet(Live *live, LiveStream *stream, const ViewerReply *reply)
{
        live_take_flags(live, stream, reply->flags);
        switch ((ViewerPacketStatus)reply->status) {
        case VIEWER_PACKET_OK:
                live_stream_take_packet(live, stream, reply);
                break;
        default:
                /* If there are flags, their requests go first. */
                stream->state = LIVE_STREAM_NEEDED;
                stream->pace.next = g_get_monotonic_time() + PACKET_RETRY_MS * 1000;
                if (reply->status != VIEWER_PACKET_RETRY && reply->flags == 0)
                        live_stream_lose_packet(live, stream, "lttng-relayd does not have it");
                break;
        }
}

static void live_on_reply(void *data, ViewerCommand command, void *subject,
                          const ViewerReply *reply)
{
        Live *live = data;

        if (live->state == LIVE_ENDED)
                return;
        switch (command) {
        case VIEWER_CONNECT:
                live_on_connected(live, reply);
                break;
        case VIEWER_LIST_SESSIONS:
                live_on_session(live, reply);
                break;
        case VIEWER_ATTACH_SESSION:
                live_on_attached(live, subject, reply);
                break;
        case VIEWER_GET_NEXT_INDEX:
                live_on_index(live, subject, reply);
                break;
        case VIEWER_GET_PACKET:
                live_on_packet(live, subject, reply);
                break;
        case VIEWER_GET_METADATA:
                live_on_metadata(live, subject, reply);
                break;
        case VIEWER_GET_NEW_STREAMS:
                live_on_streams(live, subject, reply);
                break;
        case VIEWER_CREATE_SESSION:
                if (reply->status != 1)
                        live_break(live, "lttng-relayd makes no viewer session (status %u)",
                                   reply->status);
                break;
        case VIEWER_DETACH_SESSION:
        case _VIEWER_COMMAND_MAX:
                break;
        }
}

static void live_on_idle(void *data)
{
        live_pump(data);
}

static void live_on_ended(void *data, const char *reason, bool is_broken)
{
        live_end(data, is_broken ? LIVE_END_BROKEN : LIVE_END_LOST, reason);
}

static const ViewerLinkCalls VIEWER_CALLS = {
        .reply = live_on_reply,
        .idle = live_on_idle,
        .ended = live_on_ended,
};

/* Its beginning and its end */

Live *live_new(PacketFeed *feed, StreamTable *table, const LiveSettings *settings, uint64_t number,
               const LiveCalls *calls, void *data, GError **error)
{
        Live *live = g_new0(Live, 1);

        live->merge.feed = feed;
        live->table = table;
        live->settings = *settings;
        live->merge.number = number;
        live->calls = calls;
        live->data = data;
        live->merge.now = INT64_MIN;
        live->sessions = g_ptr_array_new_with_free_func(g_free);
        live->traces = g_ptr_array_new_with_free_func(live_trace_free);
        live->merge.streams = g_ptr_array_new_with_free_func(live_stream_free);
        live->viewer = viewer_link_new(settings->host, settings->port, settings->net, &VIEWER_CALLS,
                                       live, error);
        if (!live->viewer) {
                live_free(live);
                return NULL;
        }
        viewer_put_connect(viewer_link_output(live->viewer));
        viewer_link_put(live->viewer, VIEWER_CONNECT, NULL);
        viewer_link_flush(live->viewer);
        return live;
}

void live_free(Live *live)
{
        if (!live)
                return;
        g_clear_handle_id(&live->timer, g_source_remove);
        g_clear_handle_id(&live->end_source, g_source_remove);
        g_free(live->reason);
        viewer_link_free(live->viewer);
        g_ptr_array_unref(live->merge.streams);
        g_ptr_array_unref(live->traces);
        g_ptr_array_unref(live->sessions);
        g_free(live);
}

bool live_is_connected(const Live *live)
{
        return live->is_connected;
}

bool live_is_attached(const Live *live)
{
        return live->state == LIVE_ATTACHED && (live->n_held > 0 || live->merge.now > INT64_MIN);
}

gint64 live_waits_since(const Live *live)
{
        return viewer_link_waits_since(live->viewer);
}

uint64_t live_number(const Live *live)
{
        return live->merge.number;
}

uint64_t live_last_held(const Live *live)
{
        return live->n_held;
}

unsigned live_n_held(const Live *live)
{
        unsigned n = 0;
        guint i;

        for (i = 0; i < live->merge.streams->len; i++)
                n += ((const LiveStream *)live->merge.streams->pdata[i])->held > 0;
        return n;
}

void live_release(Live *live, uint64_t last)
{
        guint i;

        for (i = 0; i < live->merge.streams->len; i++) {
                LiveStream *stream = live->merge.streams->pdata[i];

                if (stream->held <= last)
                        stream->held = 0;
        }
        live_go_on(live);
}

void live_go_on(Live *live)
{
        if (live->state == LIVE_ATTACHED)
                live_pump(live);
}
