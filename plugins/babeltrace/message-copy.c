/* SPDX-License-Identifier: MIT */
#include "message-copy.h"

#include "field-copy.h"
#include "graph-streams.h"

static bool has_clock(const StreamCopy *stream)
{
        return stream->class->frequency != 0;
}

static bt_message *copier_stream_begins(MessageCopier *copier, StreamCopy *stream,
                                        const bt_message *original)
{
        bt_message *message = bt_message_stream_beginning_create(copier->self, stream->copy);
        const bt_clock_snapshot *time;

        if (message && has_clock(stream) &&
            bt_message_stream_beginning_borrow_default_clock_snapshot_const(original, &time) ==
                    BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
                bt_message_stream_beginning_set_default_clock_snapshot(
                        message, bt_clock_snapshot_get_value(time));
        return message;
}

static bt_message *copier_stream_ends(MessageCopier *copier, StreamCopy *stream,
                                      const bt_message *original)
{
        bt_message *message = bt_message_stream_end_create(copier->self, stream->copy);
        const bt_clock_snapshot *time;

        if (message && has_clock(stream) &&
            bt_message_stream_end_borrow_default_clock_snapshot_const(original, &time) ==
                    BT_MESSAGE_STREAM_CLOCK_SNAPSHOT_STATE_KNOWN)
                bt_message_stream_end_set_default_clock_snapshot(message,
                                                                 bt_clock_snapshot_get_value(time));
        return message;
}

static bt_message *copier_packet_begins(MessageCopier *copier, StreamCopy *stream,
                                        const bt_message *original)
{
        const bt_packet *packet = bt_message_packet_beginning_borrow_packet_const(original);
        const bt_field *context = bt_packet_borrow_context_field_const(packet);

        bt_packet_put_ref(stream->packet);
        stream->packet = bt_packet_create(stream->copy);
        if (!stream->packet ||
            (context && !field_copy(context, bt_packet_borrow_context_field(stream->packet))))
                return NULL;
        if (!bt_stream_class_packets_have_beginning_default_clock_snapshot(stream->class->copy))
                return bt_message_packet_beginning_create(copier->self, stream->packet);
        return bt_message_packet_beginning_create_with_default_clock_snapshot(
                copier->self, stream->packet,
                bt_clock_snapshot_get_value(
                        bt_message_packet_beginning_borrow_default_clock_snapshot_const(original)));
}

static bt_message *copier_packet_ends(MessageCopier *copier, StreamCopy *stream,
                                      const bt_message *original)
{
        bt_packet *packet = g_steal_pointer(&stream->packet);
        bt_message *message;

        if (!bt_stream_class_packets_have_end_default_clock_snapshot(stream->class->copy))
                message = bt_message_packet_end_create(copier->self, packet);
        else
                message = bt_message_packet_end_create_with_default_clock_snapshot(
                        copier->self, packet,
                        bt_clock_snapshot_get_value(
                                bt_message_packet_end_borrow_default_clock_snapshot_const(
                                        original)));
        bt_packet_put_ref(packet);
        return message;
}

static bt_message *copier_event_new(MessageCopier *copier, const StreamCopy *stream,
                                    const EventClassCopy *class, const bt_clock_snapshot *time)
{
        const uint64_t value = time ? bt_clock_snapshot_get_value(time) : 0;

        if (bt_stream_class_supports_packets(stream->class->copy))
                return time ? bt_message_event_create_with_packet_and_default_clock_snapshot(
                                      copier->self, class->copy, stream->packet, value)
                            : bt_message_event_create_with_packet(copier->self, class->copy,
                                                                  stream->packet);
        return time ? bt_message_event_create_with_default_clock_snapshot(copier->self, class->copy,
                                                                          stream->copy, value)
                    : bt_message_event_create(copier->self, class->copy, stream->copy);
}

static bool event_copy_fields(const EventCopy *event)
{
        size_t i;

        for (i = 0; i < EVENT_N_ROOTS; i++)
                if (event->originals[i] && !field_copy(event->originals[i], event->copies[i]))
                        return false;
        return true;
}

static bt_message *copier_event(MessageCopier *copier, StreamCopy *stream,
                                const bt_message *original)
{
        const bt_event *event = bt_message_event_borrow_event_const(original);
        const bt_clock_snapshot *time =
                has_clock(stream) ? bt_message_event_borrow_default_clock_snapshot_const(original)
                                  : NULL;
        const EventClassCopy *class = graph_copy_event_class(&copier->graph, stream->class,
                                                             bt_event_borrow_class_const(event));
        bt_message *message = class ? copier_event_new(copier, stream, class, time) : NULL;
        bt_event *copy = message ? bt_message_event_borrow_event(message) : NULL;
        EventCopy pair;

        if (!message)
                return NULL;
        pair = (EventCopy){
                .stream = stream,
                .time = time,
                .fields = {&stream->class->context, &class->specific, &class->payload},
                .originals = {bt_event_borrow_common_context_field_const(event),
                              bt_event_borrow_specific_context_field_const(event),
                              bt_event_borrow_payload_field_const(event)},
                .copies = {bt_event_borrow_common_context_field(copy),
                           bt_event_borrow_specific_context_field(copy),
                           bt_event_borrow_payload_field(copy)},
        };
        if (event_copy_fields(&pair) && copier->on_event(copier->data, &pair))
                return message;
        bt_message_put_ref(message);
        return NULL;
}

static bt_message *copier_lost_events(MessageCopier *copier, StreamCopy *stream,
                                      const bt_message *original)
{
        bt_message *message;
        uint64_t count;

        if (bt_stream_class_discarded_events_have_default_clock_snapshots(stream->class->copy))
                message = bt_message_discarded_events_create_with_default_clock_snapshots(
                        copier->self, stream->copy,
                        bt_clock_snapshot_get_value(
                                bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
                                        original)),
                        bt_clock_snapshot_get_value(
                                bt_message_discarded_events_borrow_end_default_clock_snapshot_const(
                                        original)));
        else
                message = bt_message_discarded_events_create(copier->self, stream->copy);
        if (message && bt_message_discarded_events_get_count(original, &count) ==
                               BT_PROPERTY_AVAILABILITY_AVAILABLE)
                bt_message_discarded_events_set_count(message, count);
        return message;
}

static bt_message *copier_lost_packets(MessageCopier *copier, StreamCopy *stream,
                                       const bt_message *original)
{
        bt_message *message;
        uint64_t count;

        if (bt_stream_class_discarded_packets_have_default_clock_snapshots(stream->class->copy))
                message = bt_message_discarded_packets_create_with_default_clock_snapshots(
                        copier->self, stream->copy,
                        bt_clock_snapshot_get_value(
                                bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
                                        original)),
                        bt_clock_snapshot_get_value(
                                bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(
                                        original)));
        else
                message = bt_message_discarded_packets_create(copier->self, stream->copy);
        if (message && bt_message_discarded_packets_get_count(original, &count) ==
                               BT_PROPERTY_AVAILABILITY_AVAILABLE)
                bt_message_discarded_packets_set_count(message, count);
        return message;
}

static bt_message *copier_inactivity(MessageCopier *copier, const bt_message *original)
{
        const bt_clock_snapshot *time =
                bt_message_message_iterator_inactivity_borrow_clock_snapshot_const(original);
        bt_clock_class *clock = graph_copy_clock_class(
                &copier->graph, bt_clock_snapshot_borrow_clock_class_const(time));

        return clock ? bt_message_message_iterator_inactivity_create(
                               copier->self, clock, bt_clock_snapshot_get_value(time))
                     : NULL;
}

typedef bt_message *(*StreamMessageCopy)(MessageCopier *copier, StreamCopy *stream,
                                         const bt_message *original);

static StreamMessageCopy message_copy_of(bt_message_type type)
{
        switch (type) {
        case BT_MESSAGE_TYPE_STREAM_BEGINNING:
                return copier_stream_begins;
        case BT_MESSAGE_TYPE_STREAM_END:
                return copier_stream_ends;
        case BT_MESSAGE_TYPE_EVENT:
                return copier_event;
        case BT_MESSAGE_TYPE_PACKET_BEGINNING:
                return copier_packet_begins;
        case BT_MESSAGE_TYPE_PACKET_END:
                return copier_packet_ends;
        case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
                return copier_lost_events;
        case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
                return copier_lost_packets;
        default:
                return NULL;
        }
}

const bt_message *message_copier_copy(MessageCopier *copier, const bt_message *original)
{
        const bt_message_type type = bt_message_get_type(original);
        const bt_stream *stream = message_stream(original);
        StreamCopy *copy = stream ? graph_copy_stream(&copier->graph, stream) : NULL;
        StreamMessageCopy function = message_copy_of(type);
        const bt_message *message;

        if (!function)
                return copier_inactivity(copier, original);
        message = copy ? function(copier, copy, original) : NULL;
        if (type == BT_MESSAGE_TYPE_STREAM_END)
                graph_copy_end_stream(&copier->graph, stream);
        return message;
}
