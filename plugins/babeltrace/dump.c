/* SPDX-License-Identifier: MIT */
#include "dump.h"

#include "event/json-record.h"
#include "output.h"
#include "params.h"
#include "perfmap.h"
#include "graph-reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct Dump {
        bt_self_component *self;       /* borrowed */
        bt_message_iterator *iterator; /* owned */
        GraphReader reader;
        Output output;
        bool is_at_end; /* the input has ended and all is written */

        /* For format perfmap only. */
        Tracker *tracker;    /* owned; NULL: JSON */
        GHashTable *tracked; /* borrowed GraphStream -> borrowed TrackerStream; until its end */
        PerfmapQuery query;
        char *at; /* owned */
} Dump;

static const Param PARAMS[] = {
        {"output", PARAM_STRING},  {"format", PARAM_STRING}, {"pid", PARAM_INTEGER},
        {"pid_ns", PARAM_INTEGER}, {"at", PARAM_TIME},
};

static void dump_free(Dump *dump)
{
        if (!dump)
                return;
        bt_message_iterator_put_ref(dump->iterator);
        if (dump->tracked)
                g_hash_table_destroy(dump->tracked);
        tracker_free(dump->tracker);
        graph_reader_deinit(&dump->reader);
        output_deinit(&dump->output);
        g_free(dump->at);
        g_free(dump);
}

static bool dump_fail(Dump *dump, char *error)
{
        BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(dump->self, "%s", error);
        g_free(error);
        return false;
}

static bool dump_set_perfmap_params(Dump *dump, const bt_value *params)
{
        const char *at = params_string(params, "at");
        int64_t number;

        if (bt_value_map_has_entry(params, "pid")) {
                if (!params_integer(params, "pid", &number) || number <= 0 || number > INT32_MAX)
                        return dump_fail(dump, g_strdup("Parameter `pid` must be a process id"));
                dump->query.has_pid = true;
                dump->query.pid = (int32_t)number;
        }
        if (bt_value_map_has_entry(params, "pid_ns")) {
                if (!params_integer(params, "pid_ns", &number) || number < 0)
                        return dump_fail(dump,
                                         g_strdup("Parameter `pid_ns` must be the inode of a pid "
                                                  "namespace"));
                dump->query.has_pid_ns = true;
                dump->query.pid_ns = (uint64_t)number;
        }
        if (at)
                dump->at = g_strdup(at);
        else if (params_integer(params, "at", &number) && number >= 0)
                dump->at = g_strdup_printf("%" PRId64, number);
        else if (bt_value_map_has_entry(params, "at"))
                return dump_fail(dump,
                                 g_strdup("Parameter `at` must not be negative as a number; a "
                                          "time before the end is a string: \"-5s\""));
        dump->query.at = dump->at;
        return true;
}

static bool dump_set_params(Dump *dump, const bt_value *params)
{
        const char *format = params_string(params, "format");
        char *error;

        if (!params_check(dump->self, params, PARAMS, G_N_ELEMENTS(PARAMS)))
                return false;
        if (!g_strcmp0(format, "perfmap")) {
                dump->tracker = tracker_new();
                dump->tracked = g_hash_table_new(NULL, NULL);
                if (!dump_set_perfmap_params(dump, params))
                        return false;
        } else if (format && strcmp(format, "json")) {
                return dump_fail(
                        dump,
                        g_strdup_printf(
                                "Parameter `format` is \"%s\": give json (default) or perfmap",
                                format));
        } else if (bt_value_map_has_entry(params, "pid") ||
                   bt_value_map_has_entry(params, "pid_ns") ||
                   bt_value_map_has_entry(params, "at")) {
                return dump_fail(
                        dump,
                        g_strdup("Parameters `pid`, `pid_ns` and `at` need format=\"perfmap\""));
        }
        return output_open(&dump->output, params_string(params, "output"), &error) ||
               dump_fail(dump, error);
}

bt_component_class_initialize_method_status
dump_initialize(bt_self_component_sink *self_sink,
                bt_self_component_sink_configuration *configuration, const bt_value *params,
                void *data)
{
        bt_self_component *self = bt_self_component_sink_as_self_component(self_sink);
        Dump *dump = g_new0(Dump, 1);

        dump->self = self;
        dump->output.fd = -1;
        if (!dump_set_params(dump, params)) {
                dump_free(dump);
                return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
        }
        graph_reader_init(&dump->reader, self, dump->tracker ? EVENT_USE_CODE_MAPS : EVENT_USE_ALL);
        if (bt_self_component_sink_add_input_port(self_sink, "in", NULL, NULL) !=
            BT_SELF_COMPONENT_ADD_PORT_STATUS_OK) {
                dump_free(dump);
                return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
        }
        bt_self_component_set_data(self, dump);
        return BT_COMPONENT_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void dump_finalize(bt_self_component_sink *self)
{
        Dump *dump = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
        g_autofree char *error = NULL;

        if (!dump)
                return;
        /* The graph was stopped before the end: print the events decoded so far. */
        if (!dump->is_at_end && !dump->tracker && dump->output.buffer->len &&
            !output_close(&dump->output, &error))
                fprintf(stderr, "clrsym: %s\n", error);
        graph_reader_print_errors(&dump->reader);
        if (!dump->tracker)
                graph_reader_print_unknown(&dump->reader);
        dump_free(dump);
}

bt_component_class_sink_graph_is_configured_method_status
dump_graph_is_configured(bt_self_component_sink *self)
{
        Dump *dump = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));

        return graph_reader_create_iterator(self, &dump->iterator);
}

static TrackerStream *dump_tracked_stream(Dump *dump, GraphStream *info)
{
        TrackerStream *stream = g_hash_table_lookup(dump->tracked, info);

        if (!stream) {
                stream = tracker_stream_open(dump->tracker, info->identity);
                g_hash_table_insert(dump->tracked, info, stream);
        }
        return stream;
}

static bool dump_handle_event(Dump *dump, const bt_message *message)
{
        const bt_event *event = bt_message_event_borrow_event_const(message);
        const EventClass *info = graph_reader_event(&dump->reader, event);
        GraphStream *stream;
        uint64_t time;
        Record record;
        char *error;

        if (!info)
                return true;
        stream = graph_streams_get(&dump->reader.streams, bt_event_borrow_stream_const(event));
        if (!stream->has_clock) {
                graph_reader_refuse_clockless(&dump->reader, stream);
                return false;
        }
        time = graph_stream_time(stream,
                                 bt_message_event_borrow_default_clock_snapshot_const(message));
        switch (graph_reader_read(&dump->reader, info, stream, event, time, &record)) {
        case READ_REFUSED:
                return false;
        case READ_SKIPPED:
                return true;
        case READ_RECORD:
                break;
        }

        if (dump->tracker) {
                dump->query.begin = dump->query.end ? MIN(dump->query.begin, time) : time;
                dump->query.end = MAX(dump->query.end, time);
                tracker_apply_record(dump->tracker, dump_tracked_stream(dump, stream), &record);
                return true;
        }
        json_append_record(dump->output.buffer, &record);
        return output_flush_large(&dump->output, &error) || dump_fail(dump, error);
}

static void dump_handle_gap(Dump *dump, const bt_message *message)
{
        GraphStream *stream = graph_streams_get(&dump->reader.streams, message_stream(message));
        StreamGap gap;

        graph_stream_gap(stream, message, &gap);
        if (!dump->tracker)
                json_append_gap(dump->output.buffer, bt_stream_get_id(stream->stream), &gap);
        else if (stream->has_clock)
                tracker_apply_gap(dump->tracker, dump_tracked_stream(dump, stream), &gap);
}

static void dump_handle_stream_end(Dump *dump, const bt_message *message)
{
        const bt_stream *stream = message_stream(message);

        if (dump->tracker) {
                GraphStream *info = graph_streams_get(&dump->reader.streams, stream);
                TrackerStream *tracked = g_hash_table_lookup(dump->tracked, info);

                if (tracked)
                        tracker_stream_close(dump->tracker, tracked);
                g_hash_table_remove(dump->tracked, info);
        }
        graph_streams_remove(&dump->reader.streams, stream);
}

static bool dump_handle_message(Dump *dump, const bt_message *message)
{
        switch (bt_message_get_type(message)) {
        case BT_MESSAGE_TYPE_EVENT:
                return dump_handle_event(dump, message);
        case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
        case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
                dump_handle_gap(dump, message);
                return true;
        case BT_MESSAGE_TYPE_STREAM_END:
                dump_handle_stream_end(dump, message);
                return true;
        default:
                return true;
        }
}

static bool dump_finish(Dump *dump)
{
        char *error;

        if (dump->tracker &&
            !perfmap_append(dump->output.buffer, dump->tracker, &dump->query, &error))
                return dump_fail(dump, error);
        if (!output_close(&dump->output, &error))
                return dump_fail(dump, error);
        dump->is_at_end = true;
        return true;
}

bt_component_class_sink_consume_method_status dump_consume(bt_self_component_sink *self)
{
        Dump *dump = bt_self_component_get_data(bt_self_component_sink_as_self_component(self));
        bt_message_array_const messages;
        uint64_t i, n;
        bool is_ok = true;
        char *error;

        switch (bt_message_iterator_next(dump->iterator, &messages, &n)) {
        case BT_MESSAGE_ITERATOR_NEXT_STATUS_OK:
                break;
        case BT_MESSAGE_ITERATOR_NEXT_STATUS_END:
                return dump_finish(dump) ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_END
                                         : BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
        case BT_MESSAGE_ITERATOR_NEXT_STATUS_AGAIN:
                /* Live: flush, because somebody may wait for the lines. */
                if (!dump->tracker && !output_flush(&dump->output, &error)) {
                        dump_fail(dump, error);
                        return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
                }
                return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_AGAIN;
        case BT_MESSAGE_ITERATOR_NEXT_STATUS_MEMORY_ERROR:
                return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_MEMORY_ERROR;
        default:
                return BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
        }

        for (i = 0; i < n; i++) {
                is_ok = is_ok && dump_handle_message(dump, messages[i]);
                bt_message_put_ref(messages[i]);
        }
        return is_ok ? BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_OK
                     : BT_COMPONENT_CLASS_SINK_CONSUME_METHOD_STATUS_ERROR;
}
