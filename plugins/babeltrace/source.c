/* SPDX-License-Identifier: MIT */
#include "source.h"

#include "ctf/error.h"
#include "field-writer.h"
#include "params.h"
#include "source-params.h"
#include "source-traces.h"

/*
 * The reader returns the items of all streams in order of time. So the component has one output
 * port, and each item is a message. Each iterator has its own reader.
 */

/* A component. */
typedef struct SourceComponent {
        bt_self_component *self; /* borrowed */
        SourceParams params;
        CtfReader *reader; /* owned: opened to check the traces; the first iterator takes it over */
} SourceComponent;

typedef struct SourceIterator {
        bt_self_message_iterator *self; /* borrowed */
        CtfReader *reader;              /* owned */
        SourceTraces traces;
        DecodeScratch scratch;
        CtfDataStream *waiting; /* borrowed: its item follows its stream's first message */
        GError *error;          /* owned: for the next call */
        bool is_at_end;
} SourceIterator;

static CtfReader *component_open(const SourceComponent *component, GError **error)
{
        const SourceParams *params = &component->params;

        return ctf_reader_new_of((const char *const *)params->inputs->pdata, params->inputs->len,
                                 EVENT_USE_ALL, params->has_others, error);
}

static const char *error_hint(const GError *error)
{
        return error->code == CTF_ERROR_UNSUPPORTED
                       ? ". source.clrsym.ctf cannot read that; source.ctf.fs of babeltrace2 may"
                       : "";
}

static void component_free(SourceComponent *component)
{
        ctf_reader_free(component->reader);
        source_params_deinit(&component->params);
        g_free(component);
}

bt_component_class_initialize_method_status
source_initialize(bt_self_component_source *self_source,
                  bt_self_component_source_configuration *configuration, const bt_value *params,
                  void *data)
{
        bt_self_component *self = bt_self_component_source_as_self_component(self_source);
        SourceComponent *component = g_new0(SourceComponent, 1);
        g_autoptr(GError) error = NULL;
        g_autofree char *reason = NULL;

        component->self = self;
        if (!source_params_init(&component->params, params, &reason)) {
                BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self, "%s", reason);
                component_free(component);
                return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
        }
        component->reader = component_open(component, &error);
        if (!component->reader) {
                BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self, "%s%s", error->message,
                                                                    error_hint(error));
                component_free(component);
                return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
        }
        if (bt_self_component_source_add_output_port(self_source, "out", NULL, NULL) !=
            BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
                component_free(component);
                return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
        }
        bt_self_component_set_data(self, component);
        return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void source_finalize(bt_self_component_source *self)
{
        component_free(
                bt_self_component_get_data(bt_self_component_source_as_self_component(self)));
}

static void iterator_free(SourceIterator *iterator)
{
        source_traces_deinit(&iterator->traces);
        ctf_reader_free(iterator->reader);
        decode_scratch_deinit(&iterator->scratch);
        g_clear_error(&iterator->error);
        g_free(iterator);
}

static void iterator_report(const SourceIterator *iterator, const GError *error)
{
        BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_MESSAGE_ITERATOR(
                iterator->self, "%s%s", error->message, error_hint(error));
}

/* babeltrace2 can seek forward only if every message has a time. */
static bool iterator_has_clocks(const SourceIterator *iterator)
{
        guint i;

        for (i = 0; i < iterator->traces.streams->len; i++)
                if (!((SourceStream *)iterator->traces.streams->pdata[i])->class->has_clock)
                        return false;
        return true;
}

bt_message_iterator_class_initialize_method_status
source_iterator_initialize(bt_self_message_iterator *self,
                           bt_self_message_iterator_configuration *configuration,
                           bt_self_component_port_output *port)
{
        bt_self_component *self_component = bt_self_message_iterator_borrow_component(self);
        SourceComponent *component = bt_self_component_get_data(self_component);
        SourceIterator *iterator = g_new0(SourceIterator, 1);
        g_autoptr(GError) error = NULL;

        iterator->self = self;
        iterator->reader = component->reader ? g_steal_pointer(&component->reader)
                                             : component_open(component, &error);
        if (!iterator->reader ||
            !source_traces_init(&iterator->traces, self_component, iterator->reader,
                                component->params.trace_name, &error)) {
                iterator_report(iterator, error);
                iterator_free(iterator);
                return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
        }
        bt_self_message_iterator_set_data(self, iterator);
        bt_self_message_iterator_configuration_set_can_seek_forward(configuration,
                                                                    iterator_has_clocks(iterator));
        return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void source_iterator_finalize(bt_self_message_iterator *self)
{
        SourceIterator *iterator = bt_self_message_iterator_get_data(self);

        if (iterator)
                iterator_free(iterator);
}

static const bt_message *iterator_fail(SourceIterator *iterator, const CtfDataStream *stream,
                                       const char *what)
{
        const CtfDataFile *file = stream->files->pdata[MIN(stream->i_file, stream->files->len - 1)];

        if (!iterator->error)
                g_set_error(&iterator->error, CTF_ERROR, CTF_ERROR_DAMAGED,
                            "%s: packet at byte %" G_GUINT64_FORMAT ": %s", file->path,
                            stream->packet.offset, what);
        return NULL;
}

/* A writer for the stream's item, from its contexts on. */
static FieldWriter item_writer(const CtfDataStream *stream)
{
        return (FieldWriter){
                .window = stream->cursor.window,
                .window_begin = stream->cursor.window_begin,
                .at = stream->context_at,
                .end = stream->cursor.at,
                .slots = stream->slots,
        };
}

static bool write_if_any(FieldWriter *writer, const CtfClass *class, bt_field *field)
{
        return !class || field_writer_write(writer, class, field);
}

static const bt_message *iterator_packet_begin(SourceIterator *iterator, CtfDataStream *stream)
{
        const CtfPacket *packet = &stream->packet;
        SourceStream *own = stream->user;
        FieldWriter writer = item_writer(stream);
        bt_field *context;

        if ((own->class->has_packet_begin && !packet->has_begin) ||
            (own->class->has_packet_end && !packet->has_end))
                return iterator_fail(iterator, stream, "it has no time");
        own->packet = bt_packet_create(own->stream);
        context = bt_packet_borrow_context_field(own->packet);
        if (context &&
            !field_writer_write(&writer, stream->layout->stream->packet_context, context))
                return iterator_fail(iterator, stream, "its context has too many elements");
        return own->class->has_packet_begin
                       ? bt_message_packet_beginning_create_with_default_clock_snapshot(
                                 iterator->self, own->packet, packet->begin)
                       : bt_message_packet_beginning_create(iterator->self, own->packet);
}

static const bt_message *iterator_packet_end(SourceIterator *iterator, CtfDataStream *stream)
{
        SourceStream *own = stream->user;
        const bt_message *message =
                own->class->has_packet_end
                        ? bt_message_packet_end_create_with_default_clock_snapshot(
                                  iterator->self, own->packet, stream->packet.end)
                        : bt_message_packet_end_create(iterator->self, own->packet);

        BT_PACKET_PUT_REF_AND_RESET(own->packet);
        return message;
}

static const bt_message *iterator_lost_events(SourceIterator *iterator, CtfDataStream *stream)
{
        const CtfPacket *packet = &stream->packet;
        const bool has_count = stream->gap.count != GAP_COUNT_UNKNOWN;
        const uint64_t begin = has_count ? stream->previous.end : packet->begin;
        const SourceStream *own = stream->user;
        bt_message *message;

        if (!own->class->has_loss_times) {
                message = bt_message_discarded_events_create(iterator->self, own->stream);
        } else {
                if (!packet->has_end || begin > packet->end)
                        return iterator_fail(iterator, stream,
                                             "it ends before the previous packet");
                message = bt_message_discarded_events_create_with_default_clock_snapshots(
                        iterator->self, own->stream, begin, packet->end);
        }
        if (message && has_count)
                bt_message_discarded_events_set_count(message, stream->gap.count);
        return message;
}

static const bt_message *iterator_lost_packets(SourceIterator *iterator, CtfDataStream *stream)
{
        const CtfPacket *packet = &stream->packet;
        const SourceStream *own = stream->user;
        bt_message *message;

        if (!own->class->has_loss_times) {
                message = bt_message_discarded_packets_create(iterator->self, own->stream);
        } else {
                if (!packet->has_begin || stream->previous.end > packet->begin)
                        return iterator_fail(iterator, stream,
                                             "it begins before the end of the previous packet");
                message = bt_message_discarded_packets_create_with_default_clock_snapshots(
                        iterator->self, own->stream, stream->previous.end, packet->begin);
        }
        if (message)
                bt_message_discarded_packets_set_count(message, stream->gap.count);
        return message;
}

/* Reads an event's contexts again to write them, and the payload, too, unless it IS_NAMED. */
static bool event_reread(const CtfDataStream *stream, bool is_named, bt_event *event)
{
        const CtfEventClass *class = stream->event->class;
        FieldWriter writer = item_writer(stream);

        return write_if_any(&writer, stream->layout->stream->event_context,
                            bt_event_borrow_common_context_field(event)) &&
               write_if_any(&writer, class->specific_context,
                            bt_event_borrow_specific_context_field(event)) &&
               (is_named ||
                write_if_any(&writer, class->payload, bt_event_borrow_payload_field(event)));
}

static const bt_message *iterator_event(SourceIterator *iterator, CtfDataStream *stream)
{
        CtfEventLayout *layout = stream->event;
        const SourceStream *own = stream->user;
        const bt_event_class *class;
        bt_message *message;
        bt_event *event;
        Record record;
        bool is_named, is_ok;

        /* Emit an undecodable event as declared: its consumer counts it. */
        is_named = layout->event && ctf_layout_decode(layout, stream->slots, &iterator->scratch,
                                                      &record) == DECODE_OK;
        class = source_traces_event_class(&iterator->traces, own->class, layout, is_named,
                                          &iterator->error);
        if (!class)
                return NULL;
        message = own->class->has_clock
                          ? bt_message_event_create_with_packet_and_default_clock_snapshot(
                                    iterator->self, class, own->packet, stream->cursor.clock)
                          : bt_message_event_create_with_packet(iterator->self, class, own->packet);
        if (!message)
                return NULL;
        event = bt_message_event_borrow_event(message);
        /* Usually all values are known, and need no second read. */
        if (is_named && stream->layout->is_context_kept && !layout->class->specific_context)
                is_ok = kept_write(stream->layout->stream->event_context, stream->slots,
                                   bt_event_borrow_common_context_field(event));
        else
                is_ok = event_reread(stream, is_named, event);
        if (is_ok && is_named && layout->event->n_fields > 0)
                is_ok = record_write(&record, bt_event_borrow_payload_field(event));
        if (is_ok)
                return message;
        bt_message_put_ref(message);
        return iterator_fail(iterator, stream, "an event has arrays with too many elements");
}

/* The message of the stream's item; NULL: the iterator's error, or no memory. */
static const bt_message *iterator_message(SourceIterator *iterator, CtfDataStream *stream)
{
        const SourceStream *own = stream->user;

        switch (stream->item) {
        case CTF_ITEM_EVENT:
                return iterator_event(iterator, stream);
        case CTF_ITEM_DISCARDED_EVENTS:
                return iterator_lost_events(iterator, stream);
        case CTF_ITEM_DISCARDED_PACKETS:
                return iterator_lost_packets(iterator, stream);
        case CTF_ITEM_PACKET_BEGIN:
                return iterator_packet_begin(iterator, stream);
        case CTF_ITEM_PACKET_END:
                return iterator_packet_end(iterator, stream);
        case CTF_ITEM_END:
                return bt_message_stream_end_create(iterator->self, own->stream);
        case CTF_ITEM_NONE:
                break;
        }
        return NULL;
}

/* NULL: end, the iterator's error, or no memory. */
static const bt_message *iterator_step(SourceIterator *iterator)
{
        CtfDataStream *stream = g_steal_pointer(&iterator->waiting);
        SourceStream *own;

        if (!stream)
                switch (ctf_reader_next(iterator->reader, &stream, &iterator->error)) {
                case CTF_READ_ITEM:
                        break;
                case CTF_READ_END:
                        iterator->is_at_end = true;
                        return NULL;
                case CTF_READ_ERROR:
                        return NULL;
                }
        own = stream->user;
        if (own->has_begun)
                return iterator_message(iterator, stream);
        own->has_begun = true;
        iterator->waiting = stream;
        return bt_message_stream_beginning_create(iterator->self, own->stream);
}

bt_message_iterator_class_next_method_status source_iterator_next(bt_self_message_iterator *self,
                                                                  bt_message_array_const messages,
                                                                  uint64_t capacity,
                                                                  uint64_t *count)
{
        SourceIterator *iterator = bt_self_message_iterator_get_data(self);
        uint64_t n = 0;

        while (n < capacity && !iterator->is_at_end && !iterator->error) {
                const bt_message *message = iterator_step(iterator);

                if (!message && !iterator->is_at_end && !iterator->error)
                        g_set_error(&iterator->error, CTF_ERROR, CTF_ERROR_SYSTEM,
                                    "not enough memory for a message");
                if (message)
                        messages[n++] = message;
        }
        *count = n;
        /* Emit the messages before an error first. */
        if (n > 0)
                return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK;
        if (!iterator->error)
                return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
        iterator_report(iterator, iterator->error);
        return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
}

bt_message_iterator_class_seek_beginning_method_status
source_iterator_seek_beginning(bt_self_message_iterator *self)
{
        SourceIterator *iterator = bt_self_message_iterator_get_data(self);
        g_autoptr(GError) error = NULL;
        guint i;

        for (i = 0; i < iterator->traces.streams->len; i++) {
                SourceStream *stream = iterator->traces.streams->pdata[i];

                BT_PACKET_PUT_REF_AND_RESET(stream->packet);
                stream->has_begun = false;
        }
        iterator->waiting = NULL;
        iterator->is_at_end = false;
        g_clear_error(&iterator->error);
        if (ctf_reader_rewind(iterator->reader, &error))
                return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK;
        iterator_report(iterator, error);
        return BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_ERROR;
}

bt_message_iterator_class_can_seek_beginning_method_status
source_iterator_can_seek_beginning(bt_self_message_iterator *self, bt_bool *can_seek)
{
        *can_seek = BT_TRUE;
        return BT_MESSAGE_ITERATOR_CLASS_CAN_SEEK_BEGINNING_METHOD_STATUS_OK;
}
