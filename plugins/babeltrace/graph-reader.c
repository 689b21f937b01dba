/* SPDX-License-Identifier: MIT */
#include "graph-reader.h"

#include <stdio.h>

void graph_reader_init(GraphReader *reader, bt_self_component *self, EventUse use)
{
        *reader = (GraphReader){.self = self, .classes = event_classes_new(use)};
        graph_streams_init(&reader->streams);
}

void graph_reader_deinit(GraphReader *reader)
{
        bt_decoder_deinit(&reader->decoder);
        graph_streams_deinit(&reader->streams);
        event_classes_free(reader->classes);
        *reader = (GraphReader){0};
}

bt_component_class_sink_graph_is_configured_method_status
graph_reader_create_iterator(bt_self_component_sink *sink, bt_message_iterator **ret_iterator)
{
        switch (bt_message_iterator_create_from_sink_component(
                sink, bt_self_component_sink_borrow_input_port_by_name(sink, "in"), ret_iterator)) {
        case BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_OK:
                return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_OK;
        case BT_MESSAGE_ITERATOR_CREATE_FROM_SINK_COMPONENT_STATUS_MEMORY_ERROR:
                return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_MEMORY_ERROR;
        default:
                return BT_COMPONENT_CLASS_SINK_GRAPH_IS_CONFIGURED_METHOD_STATUS_ERROR;
        }
}

EventClass *graph_reader_event(GraphReader *reader, const bt_event *event)
{
        EventClass *info = event_classes_get(reader->classes, bt_event_borrow_class_const(event));

        reader->n_events++;
        if (info->is_dotnet)
                info->counts->n_events++;
        return info->is_wanted ? info : NULL;
}

static void graph_reader_refuse(const GraphReader *reader, const char *reason)
{
        BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(reader->self, "%s", reason);
}

void graph_reader_refuse_clockless(const GraphReader *reader, const GraphStream *stream)
{
        g_autofree char *reason = stream_clockless_reason(graph_stream_trace_name(stream));

        graph_reader_refuse(reader, reason);
}

static void graph_reader_refuse_without_process(const GraphReader *reader,
                                                const GraphStream *stream)
{
        g_autofree char *reason = stream_unattributed_reason(graph_stream_trace_name(stream),
                                                             graph_stream_session_name(stream));

        graph_reader_refuse(reader, reason);
}

static bool graph_reader_find_process(const GraphReader *reader, const EventClass *info,
                                      const GraphStream *stream, const bt_event *event,
                                      Record *record)
{
        const bt_field *context = bt_event_borrow_common_context_field_const(event);
        const char *program;
        int64_t value;

        record->process = (ProcessKey){0};
        record->tid = 0;
        record->program = stream_identity_program(stream->identity);
        if (context && member_read_integer(info->pid_ns, context, &value))
                record->process.pid_ns = (uint64_t)value;
        if (context && member_read_integer(info->vtid, context, &value) && value > 0 &&
            value <= INT32_MAX)
                record->tid = (int32_t)value;
        /* The procname names a thread, so without a thread it is useless. */
        if (record->tid && (program = member_read_text(info->procname, context)))
                record->program =
                        (Value){.data = (const uint8_t *)program, .n = (uint32_t)strlen(program)};
        if (context && member_read_integer(info->vpid, context, &value) && value >= INT32_MIN &&
            value <= INT32_MAX) {
                record->process.pid = (int32_t)value;
                return true;
        }
        record->process.pid = stream->pid;
        return stream->has_pid;
}

ReadResult graph_reader_read(GraphReader *reader, const EventClass *info, const GraphStream *stream,
                             const bt_event *event, uint64_t time, Record *ret_record)
{
        DecodeResult result;

        if (!graph_reader_find_process(reader, info, stream, event, ret_record)) {
                graph_reader_refuse_without_process(reader, stream);
                return READ_REFUSED;
        }
        ret_record->time = time;
        result = bt_decoder_decode(&reader->decoder, &info->layout,
                                   bt_event_borrow_payload_field_const(event), ret_record);
        info->counts->n_results[result]++;
        return result == DECODE_OK ? READ_RECORD : READ_SKIPPED;
}

void graph_reader_report(const GraphReader *reader, FeederReport *ret_report)
{
        event_counts_report(event_classes_counts(reader->classes), reader->n_events, ret_report);
}

void graph_reader_print_errors(const GraphReader *reader)
{
        g_autoptr(GString) lines = g_string_new(NULL);

        event_counts_append_errors(event_classes_counts(reader->classes), lines);
        fputs(lines->str, stderr);
}

void graph_reader_print_unknown(const GraphReader *reader)
{
        g_autoptr(GString) lines = g_string_new(NULL);

        event_counts_append_unknown(event_classes_counts(reader->classes), lines);
        fputs(lines->str, stderr);
}
