/* SPDX-License-Identifier: MIT */
#include "graph-streams.h"

#include "event/boot-id.h"
#include "graph-mip.h"

#include <string.h>

#define NS_PER_SECOND 1000000000

static void graph_stream_free(void *data)
{
        GraphStream *info = data;

        stream_identity_free(info->identity);
        bt_stream_put_ref(info->stream);
        g_free(info);
}

void graph_streams_init(GraphStreams *streams)
{
        *streams = (GraphStreams){
                .infos = g_hash_table_new_full(NULL, NULL, NULL, graph_stream_free),
        };
}

void graph_streams_deinit(GraphStreams *streams)
{
        if (streams->infos)
                g_hash_table_destroy(streams->infos);
        *streams = (GraphStreams){0};
}

static const bt_value *trace_environment(const void *trace, const char *name)
{
        return bt_trace_borrow_environment_entry_value_by_name_const(trace, name);
}

static const char *trace_environment_string(const void *trace, const char *name)
{
        const bt_value *value = trace_environment(trace, name);

        return value && bt_value_is_string(value) ? bt_value_string_get(value) : "";
}

static bool trace_environment_integer(const void *trace, const char *name, int64_t *ret_value)
{
        const bt_value *value = trace_environment(trace, name);

        if (!value)
                return false;
        if (bt_value_is_signed_integer(value))
                *ret_value = bt_value_integer_signed_get(value);
        else if (bt_value_is_unsigned_integer(value))
                *ret_value = (int64_t)bt_value_integer_unsigned_get(value);
        else
                return false;
        return true;
}

/* Realtime less the clock's value, in ns; limited to 64 bits. */
static int64_t clock_class_offset(const bt_clock_class *clock_class, uint64_t frequency)
{
        __int128 offset;
        int64_t seconds;
        uint64_t cycles;

        bt_clock_class_get_offset(clock_class, &seconds, &cycles);
        offset = (__int128)seconds * NS_PER_SECOND +
                 (__int128)((unsigned __int128)cycles * NS_PER_SECOND / frequency);
        return offset > INT64_MAX ? INT64_MAX : offset < INT64_MIN ? INT64_MIN : (int64_t)offset;
}

static void graph_stream_read_environment(GraphStream *info, const bt_trace *trace)
{
        const TraceEnvironment environment = {
                .trace = trace,
                .text = trace_environment_string,
                .number = trace_environment_integer,
        };

        info->pid = stream_identity_read_environment(info->identity, &environment);
        info->has_pid = info->pid != 0;
}

static GraphStream *graph_stream_new(const bt_stream *stream)
{
        const bt_trace *trace = bt_stream_borrow_trace_const(stream);
        const bt_stream_class *stream_class = bt_stream_borrow_class_const(stream);
        const bt_clock_class *clock_class =
                bt_stream_class_borrow_default_clock_class_const(stream_class);
        GraphStream *info = g_new0(GraphStream, 1);
        StreamIdentity *identity = stream_identity_new();

        bt_stream_get_ref(stream);
        info->stream = stream;
        info->identity = identity;
        (void)graph_mip_trace_uuid(trace, identity->trace_uuid);
        identity->class_id = bt_stream_class_get_id(stream_class);
        identity->stream_id = bt_stream_get_id(stream);
        graph_stream_read_environment(info, trace);

        if (clock_class && bt_clock_class_get_frequency(clock_class) > 0) {
                const char *name = bt_clock_class_get_name(clock_class);
                uint8_t uuid[16];

                info->has_clock = true;
                info->frequency = bt_clock_class_get_frequency(clock_class);
                stream_identity_set_clock(identity, name ? name : "",
                                          clock_class_offset(clock_class, info->frequency));
                boot_id_append(identity->boot_id, trace_environment_string(trace, "hostname"),
                               graph_mip_clock_uuid(clock_class, uuid) ? uuid : NULL,
                               identity->clock_offset);
        }
        return info;
}

GraphStream *graph_streams_get(GraphStreams *streams, const bt_stream *stream)
{
        GraphStream *info;

        if (stream == streams->last_stream)
                return streams->last_info;
        info = g_hash_table_lookup(streams->infos, stream);
        if (!info) {
                info = graph_stream_new(stream);
                g_hash_table_insert(streams->infos, (void *)stream, info);
        }
        streams->last_stream = stream;
        streams->last_info = info;
        return info;
}

void graph_streams_remove(GraphStreams *streams, const bt_stream *stream)
{
        streams->last_stream = NULL;
        g_hash_table_remove(streams->infos, stream);
}

const bt_stream *message_stream(const bt_message *message)
{
        switch (bt_message_get_type(message)) {
        case BT_MESSAGE_TYPE_STREAM_BEGINNING:
                return bt_message_stream_beginning_borrow_stream_const(message);
        case BT_MESSAGE_TYPE_STREAM_END:
                return bt_message_stream_end_borrow_stream_const(message);
        case BT_MESSAGE_TYPE_EVENT:
                return bt_event_borrow_stream_const(bt_message_event_borrow_event_const(message));
        case BT_MESSAGE_TYPE_PACKET_BEGINNING:
                return bt_packet_borrow_stream_const(
                        bt_message_packet_beginning_borrow_packet_const(message));
        case BT_MESSAGE_TYPE_PACKET_END:
                return bt_packet_borrow_stream_const(
                        bt_message_packet_end_borrow_packet_const(message));
        case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
                return bt_message_discarded_events_borrow_stream_const(message);
        case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
                return bt_message_discarded_packets_borrow_stream_const(message);
        default:
                return NULL;
        }
}

const bt_clock_snapshot *message_clock_snapshot(const bt_message *message)
{
        const bt_stream *stream = message_stream(message);
        const bt_stream_class *stream_class;
        const bt_clock_snapshot *snapshot = NULL;

        if (!stream) {
                if (bt_message_get_type(message) != BT_MESSAGE_TYPE_MESSAGE_ITERATOR_INACTIVITY)
                        return NULL;
                return bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(message);
        }

        stream_class = bt_stream_borrow_class_const(stream);
        if (!bt_stream_class_borrow_default_clock_class_const(stream_class))
                return NULL;
        switch (bt_message_get_type(message)) {
        case BT_MESSAGE_TYPE_STREAM_BEGINNING:
                if (bt_message_stream_beginning_borrow_default_clock_snapshot_const(
                            message, &snapshot) != BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
                        return NULL;
                return snapshot;
        case BT_MESSAGE_TYPE_STREAM_END:
                if (bt_message_stream_end_borrow_default_clock_snapshot_const(message, &snapshot) !=
                    BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
                        return NULL;
                return snapshot;
        case BT_MESSAGE_TYPE_EVENT:
                return bt_message_event_borrow_default_clock_snapshot_const(message);
        case BT_MESSAGE_TYPE_PACKET_BEGINNING:
                if (!bt_stream_class_packets_have_beginning_default_clock_snapshot(stream_class))
                        return NULL;
                return bt_message_packet_beginning_borrow_default_clock_snapshot_const(message);
        case BT_MESSAGE_TYPE_PACKET_END:
                if (!bt_stream_class_packets_have_end_default_clock_snapshot(stream_class))
                        return NULL;
                return bt_message_packet_end_borrow_default_clock_snapshot_const(message);
        case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
                if (!bt_stream_class_discarded_events_have_default_clock_snapshots(stream_class))
                        return NULL;
                return bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
                        message);
        case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
                if (!bt_stream_class_discarded_packets_have_default_clock_snapshots(stream_class))
                        return NULL;
                return bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
                        message);
        default:
                return NULL;
        }
}

uint64_t graph_stream_time(const GraphStream *info, const bt_clock_snapshot *snapshot)
{
        uint64_t value = bt_clock_snapshot_get_value(snapshot);
        unsigned __int128 time;

        if (info->frequency == NS_PER_SECOND)
                return value;
        time = (unsigned __int128)value * NS_PER_SECOND / info->frequency;
        return time > UINT64_MAX ? UINT64_MAX : (uint64_t)time;
}

void graph_stream_gap(const GraphStream *info, const bt_message *message, StreamGap *ret_gap)
{
        const bt_stream_class *stream_class = bt_stream_borrow_class_const(info->stream);
        const bt_clock_snapshot *begin = NULL, *end = NULL;
        StreamGap gap = {.begin = 0, .end = UINT64_MAX, .count = GAP_COUNT_UNKNOWN};
        uint64_t count;

        if (bt_message_get_type(message) == BT_MESSAGE_TYPE_DISCARDED_EVENTS) {
                gap.kind = GAP_EVENTS;
                if (bt_message_discarded_events_get_count(message, &count) ==
                    BT_PROPERTY_AVAILABILITY_AVAILABLE)
                        gap.count = count;
                if (bt_stream_class_discarded_events_have_default_clock_snapshots(stream_class)) {
                        begin = bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
                                message);
                        end = bt_message_discarded_events_borrow_end_default_clock_snapshot_const(
                                message);
                }
        } else {
                gap.kind = GAP_PACKETS;
                if (bt_message_discarded_packets_get_count(message, &count) ==
                    BT_PROPERTY_AVAILABILITY_AVAILABLE)
                        gap.count = count;
                if (bt_stream_class_discarded_packets_have_default_clock_snapshots(stream_class)) {
                        begin = bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
                                message);
                        end = bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(
                                message);
                }
        }
        if (begin && info->has_clock)
                gap.begin = graph_stream_time(info, begin);
        if (end && info->has_clock)
                gap.end = graph_stream_time(info, end);
        /* The clock of a damaged trace can go back. */
        ret_gap->kind = gap.kind;
        ret_gap->begin = MIN(gap.begin, gap.end);
        ret_gap->end = MAX(gap.begin, gap.end);
        ret_gap->count = gap.count;
}

const char *graph_stream_trace_name(const GraphStream *info)
{
        const char *name = bt_trace_get_name(bt_stream_borrow_trace_const(info->stream));

        return name && *name ? name : graph_stream_session_name(info);
}

const char *graph_stream_session_name(const GraphStream *info)
{
        return trace_environment_string(bt_stream_borrow_trace_const(info->stream), "trace_name");
}
