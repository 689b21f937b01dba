/* SPDX-License-Identifier: MIT */
#include "graph-copy.h"

#include "graph-mip.h"

#include <string.h>

typedef struct TraceClassCopy {
        GraphCopy *graph;               /* borrowed */
        const bt_trace_class *original; /* borrowed */
        bt_trace_class *copy;           /* owned */
        bt_listener_id listener;
        GHashTable *streams; /* owned: borrowed original -> owned StreamClassCopy */
} TraceClassCopy;

typedef struct TraceCopy {
        GraphCopy *graph;         /* borrowed */
        const bt_trace *original; /* borrowed */
        bt_trace *copy;           /* owned */
        bt_listener_id listener;
        int64_t pid; /* see StreamCopy */
} TraceCopy;

static void event_class_copy_free(void *data)
{
        EventClassCopy *event = data;

        named_fields_deinit(&event->specific);
        named_fields_deinit(&event->payload);
        bt_event_class_put_ref(event->copy);
        g_free(event);
}

static void stream_class_copy_free(void *data)
{
        StreamClassCopy *stream = data;

        g_hash_table_destroy(stream->events);
        g_hash_table_destroy(stream->copier.selectors);
        named_fields_deinit(&stream->context);
        bt_stream_class_put_ref(stream->copy);
        g_free(stream);
}

/* The original may outlive the copy: remove the listener. */
static void trace_class_copy_free(void *data)
{
        TraceClassCopy *class = data;

        if (class->original)
                (void)bt_trace_class_remove_destruction_listener(class->original, class->listener);
        g_hash_table_destroy(class->streams);
        bt_trace_class_put_ref(class->copy);
        g_free(class);
}

static void on_trace_class_destroyed(const bt_trace_class *original, void *data)
{
        TraceClassCopy *class = data;

        class->original = NULL;
        g_hash_table_remove(class->graph->trace_classes, original);
}

static void trace_copy_free(void *data)
{
        TraceCopy *trace = data;

        if (trace->original)
                (void)bt_trace_remove_destruction_listener(trace->original, trace->listener);
        bt_trace_put_ref(trace->copy);
        g_free(trace);
}

static void on_trace_destroyed(const bt_trace *original, void *data)
{
        TraceCopy *trace = data;

        trace->original = NULL;
        g_hash_table_remove(trace->graph->traces, original);
}

static void stream_copy_free(void *data)
{
        StreamCopy *stream = data;

        bt_packet_put_ref(stream->packet);
        bt_stream_put_ref(stream->copy);
        bt_stream_put_ref(stream->original);
        g_free(stream);
}

static void clock_class_put(void *data)
{
        bt_clock_class_put_ref(data);
}

void graph_copy_init(GraphCopy *graph, bt_self_component *self, const NamedFieldsSettings *settings,
                     bool is_clock_monotonic)
{
        *graph = (GraphCopy){
                .self = self,
                .mip = bt_self_component_get_graph_mip_version(self),
                .settings = settings,
                .is_clock_monotonic = is_clock_monotonic,
                .trace_classes = g_hash_table_new_full(NULL, NULL, NULL, trace_class_copy_free),
                .traces = g_hash_table_new_full(NULL, NULL, NULL, trace_copy_free),
                .clocks = g_hash_table_new_full(NULL, NULL, clock_class_put, clock_class_put),
                .streams = g_hash_table_new_full(NULL, NULL, NULL, stream_copy_free),
        };
}

/* Release the streams first, because their originals keep the traces alive. */
void graph_copy_deinit(GraphCopy *graph)
{
        g_hash_table_destroy(graph->streams);
        g_hash_table_destroy(graph->traces);
        g_hash_table_destroy(graph->trace_classes);
        g_hash_table_destroy(graph->clocks);
}

void graph_copy_rewind(GraphCopy *graph)
{
        g_hash_table_remove_all(graph->streams);
}

bt_clock_class *graph_copy_clock_class(GraphCopy *graph, const bt_clock_class *original)
{
        bt_clock_class *copy = g_hash_table_lookup(graph->clocks, original);
        int64_t seconds;
        uint64_t cycles;

        if (copy)
                return copy;
        copy = bt_clock_class_create(graph->self);
        if (!copy)
                return NULL;
        bt_clock_class_set_frequency(copy, bt_clock_class_get_frequency(original));
        bt_clock_class_get_offset(original, &seconds, &cycles);
        bt_clock_class_set_offset(copy, seconds, cycles);
        if (bt_clock_class_get_name(original))
                (void)bt_clock_class_set_name(copy, bt_clock_class_get_name(original));
        if (bt_clock_class_get_description(original))
                (void)bt_clock_class_set_description(copy,
                                                     bt_clock_class_get_description(original));
        graph_mip_copy_clock_identity(graph->mip, original, copy);
        bt_clock_class_set_user_attributes(copy,
                                           bt_clock_class_borrow_user_attributes_const(original));
        bt_clock_class_get_ref(original);
        g_hash_table_insert(graph->clocks, (void *)original, copy);
        return copy;
}

/*
 * Copies the root of SCOPE; *RET_COPY is owned by the caller, and NULL without a root. False: no
 * memory.
 */
static bool copier_copy_root(ClassCopier *copier, bt_field_path_scope scope,
                             const bt_field_class *original, bt_field_class **ret_copy)
{
        copier->roots[scope] = original;
        *ret_copy = original ? class_copier_copy(copier, original) : NULL;
        return !original || *ret_copy;
}

static void stream_class_copy_clock(GraphCopy *graph, StreamClassCopy *stream,
                                    const bt_clock_class *original)
{
        const char *texts[] = {bt_clock_class_get_name(original),
                               bt_clock_class_get_description(original)};
        size_t i;

        stream->frequency = bt_clock_class_get_frequency(original);
        stream->is_monotonic = graph->is_clock_monotonic;
        for (i = 0; i < G_N_ELEMENTS(texts); i++)
                stream->is_monotonic |= texts[i] && !g_ascii_strncasecmp(texts[i], "monotonic", 9);
}

/* Copies the declarations of a stream class about its messages. */
static bool stream_class_copy_features(GraphCopy *graph, const bt_stream_class *original,
                                       bt_stream_class *copy)
{
        const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(original);
        bt_clock_class *clock_copy = clock ? graph_copy_clock_class(graph, clock) : NULL;

        if (clock && (!clock_copy || bt_stream_class_set_default_clock_class(copy, clock_copy) !=
                                             BT_STREAM_CLASS_SET_DEFAULT_CLOCK_CLASS_STATUS_OK))
                return false;
        bt_stream_class_set_supports_packets(
                copy, bt_stream_class_supports_packets(original),
                bt_stream_class_packets_have_beginning_default_clock_snapshot(original),
                bt_stream_class_packets_have_end_default_clock_snapshot(original));
        bt_stream_class_set_supports_discarded_events(
                copy, bt_stream_class_supports_discarded_events(original),
                bt_stream_class_discarded_events_have_default_clock_snapshots(original));
        bt_stream_class_set_supports_discarded_packets(
                copy, bt_stream_class_supports_discarded_packets(original),
                bt_stream_class_discarded_packets_have_default_clock_snapshots(original));
        bt_stream_class_set_assigns_automatic_event_class_id(copy, BT_FALSE);
        bt_stream_class_set_assigns_automatic_stream_id(copy, BT_FALSE);
        if (bt_stream_class_get_name(original))
                (void)bt_stream_class_set_name(copy, bt_stream_class_get_name(original));
        graph_mip_copy_stream_class_identity(graph->mip, original, copy);
        bt_stream_class_set_user_attributes(copy,
                                            bt_stream_class_borrow_user_attributes_const(original));
        return true;
}

static bool stream_class_copy_contexts(GraphCopy *graph, StreamClassCopy *stream,
                                       const bt_stream_class *original)
{
        const bt_field_class *common =
                bt_stream_class_borrow_event_common_context_field_class_const(original);
        bt_field_class *packet_copy = NULL, *common_copy = NULL;
        bool ok = copier_copy_root(
                &stream->copier, BT_FIELD_PATH_SCOPE_PACKET_CONTEXT,
                bt_stream_class_borrow_packet_context_field_class_const(original), &packet_copy);

        ok = ok &&
             copier_copy_root(&stream->copier, BT_FIELD_PATH_SCOPE_EVENT_COMMON_CONTEXT, common,
                              &common_copy) &&
             named_fields_init(&stream->context, graph->settings, graph->mip,
                               stream->copier.trace_class, common, common_copy) &&
             (!packet_copy ||
              bt_stream_class_set_packet_context_field_class(stream->copy, packet_copy) ==
                      BT_STREAM_CLASS_SET_FIELD_CLASS_STATUS_OK) &&
             (!common_copy ||
              bt_stream_class_set_event_common_context_field_class(stream->copy, common_copy) ==
                      BT_STREAM_CLASS_SET_FIELD_CLASS_STATUS_OK);
        bt_field_class_put_ref(packet_copy);
        bt_field_class_put_ref(common_copy);
        return ok;
}

static bool event_class_copy_properties(GraphCopy *graph, const bt_event_class *original,
                                        bt_event_class *copy)
{
        bt_event_class_log_level level;

        if (bt_event_class_get_name(original))
                (void)bt_event_class_set_name(copy, bt_event_class_get_name(original));
        if (bt_event_class_get_log_level(original, &level) == BT_PROPERTY_AVAILABILITY_AVAILABLE)
                bt_event_class_set_log_level(copy, level);
        if (bt_event_class_get_emf_uri(original))
                (void)bt_event_class_set_emf_uri(copy, bt_event_class_get_emf_uri(original));
        graph_mip_copy_event_class_identity(graph->mip, original, copy);
        bt_event_class_set_user_attributes(copy,
                                           bt_event_class_borrow_user_attributes_const(original));
        return true;
}

static bool event_class_copy_roots(GraphCopy *graph, StreamClassCopy *stream, EventClassCopy *event,
                                   const bt_event_class *original)
{
        const bt_field_class *specific =
                bt_event_class_borrow_specific_context_field_class_const(original);
        const bt_field_class *payload = bt_event_class_borrow_payload_field_class_const(original);
        bt_field_class *specific_copy = NULL, *payload_copy = NULL;
        bt_trace_class *trace_class = stream->copier.trace_class;
        bool ok = copier_copy_root(&stream->copier, BT_FIELD_PATH_SCOPE_EVENT_SPECIFIC_CONTEXT,
                                   specific, &specific_copy);

        ok = ok &&
             copier_copy_root(&stream->copier, BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD, payload,
                              &payload_copy) &&
             named_fields_init(&event->specific, graph->settings, graph->mip, trace_class, specific,
                               specific_copy) &&
             named_fields_init(&event->payload, graph->settings, graph->mip, trace_class, payload,
                               payload_copy) &&
             (!specific_copy ||
              bt_event_class_set_specific_context_field_class(event->copy, specific_copy) ==
                      BT_EVENT_CLASS_SET_FIELD_CLASS_STATUS_OK) &&
             (!payload_copy || bt_event_class_set_payload_field_class(event->copy, payload_copy) ==
                                       BT_EVENT_CLASS_SET_FIELD_CLASS_STATUS_OK);
        bt_field_class_put_ref(specific_copy);
        bt_field_class_put_ref(payload_copy);
        return ok;
}

EventClassCopy *graph_copy_event_class(GraphCopy *graph, StreamClassCopy *class,
                                       const bt_event_class *original)
{
        EventClassCopy *event = g_hash_table_lookup(class->events, original);

        if (event)
                return event;
        event = g_new0(EventClassCopy, 1);
        event->copy = bt_event_class_create_with_id(class->copy, bt_event_class_get_id(original));
        if (!event->copy || !event_class_copy_properties(graph, original, event->copy) ||
            !event_class_copy_roots(graph, class, event, original)) {
                event_class_copy_free(event);
                return NULL;
        }
        g_hash_table_insert(class->events, (void *)original, event);
        return event;
}

static StreamClassCopy *trace_class_copy_stream(GraphCopy *graph, TraceClassCopy *class,
                                                const bt_stream_class *original)
{
        StreamClassCopy *stream = g_hash_table_lookup(class->streams, original);
        const bt_clock_class *clock = bt_stream_class_borrow_default_clock_class_const(original);
        uint64_t i;

        if (stream)
                return stream;
        stream = g_new0(StreamClassCopy, 1);
        stream->copier = (ClassCopier){.mip = graph->mip,
                                       .trace_class = class->copy,
                                       .selectors = g_hash_table_new(NULL, NULL)};
        stream->events = g_hash_table_new_full(NULL, NULL, NULL, event_class_copy_free);
        stream->copy =
                bt_stream_class_create_with_id(class->copy, bt_stream_class_get_id(original));
        if (clock)
                stream_class_copy_clock(graph, stream, clock);
        if (!stream->copy || !stream_class_copy_features(graph, original, stream->copy) ||
            !stream_class_copy_contexts(graph, stream, original)) {
                stream_class_copy_free(stream);
                return NULL;
        }
        g_hash_table_insert(class->streams, (void *)original, stream);
        for (i = 0; i < bt_stream_class_get_event_class_count(original); i++)
                if (!graph_copy_event_class(
                            graph, stream,
                            bt_stream_class_borrow_event_class_by_index_const(original, i)))
                        return NULL;
        return stream;
}

static TraceClassCopy *graph_copy_trace_class(GraphCopy *graph, const bt_trace_class *original)
{
        TraceClassCopy *class = g_hash_table_lookup(graph->trace_classes, original);
        bt_trace_class *copy;

        if (class)
                return class;
        copy = bt_trace_class_create(graph->self);
        if (!copy)
                return NULL;
        class = g_new0(TraceClassCopy, 1);
        class->graph = graph;
        class->copy = copy;
        class->streams = g_hash_table_new_full(NULL, NULL, NULL, stream_class_copy_free);
        bt_trace_class_set_assigns_automatic_stream_class_id(copy, BT_FALSE);
        bt_trace_class_set_user_attributes(copy,
                                           bt_trace_class_borrow_user_attributes_const(original));
        if (bt_trace_class_add_destruction_listener(original, on_trace_class_destroyed, class,
                                                    &class->listener) !=
            BT_TRACE_CLASS_ADD_LISTENER_STATUS_OK) {
                trace_class_copy_free(class);
                return NULL;
        }
        class->original = original;
        g_hash_table_insert(graph->trace_classes, (void *)original, class);
        return class;
}

/* The process in the trace's environment, if each process has a trace of its own. */
static int64_t trace_pid(const bt_trace *trace)
{
        const bt_value *value =
                bt_trace_borrow_environment_entry_value_by_name_const(trace, "vpid");

        return value && bt_value_is_signed_integer(value) ? bt_value_integer_signed_get(value) : -1;
}

static bool trace_copy_environment(const bt_trace *original, bt_trace *copy)
{
        uint64_t i;

        for (i = 0; i < bt_trace_get_environment_entry_count(original); i++) {
                bt_trace_set_environment_entry_status status;
                const bt_value *value;
                const char *name;

                bt_trace_borrow_environment_entry_by_index_const(original, i, &name, &value);
                status = bt_value_is_string(value)
                                 ? bt_trace_set_environment_entry_string(copy, name,
                                                                         bt_value_string_get(value))
                                 : bt_trace_set_environment_entry_integer(
                                           copy, name, bt_value_integer_signed_get(value));
                if (status != BT_TRACE_SET_ENVIRONMENT_ENTRY_STATUS_OK)
                        return false;
        }
        return true;
}

static TraceCopy *graph_copy_trace(GraphCopy *graph, const bt_trace *original)
{
        TraceCopy *trace = g_hash_table_lookup(graph->traces, original);
        TraceClassCopy *class;
        bt_trace *copy;

        if (trace)
                return trace;
        class = graph_copy_trace_class(graph, bt_trace_borrow_class_const(original));
        copy = class ? bt_trace_create(class->copy) : NULL;
        if (!copy)
                return NULL;
        trace = g_new0(TraceCopy, 1);
        *trace = (TraceCopy){.graph = graph, .copy = copy, .pid = trace_pid(original)};
        if (bt_trace_get_name(original))
                (void)bt_trace_set_name(copy, bt_trace_get_name(original));
        graph_mip_copy_trace_identity(graph->mip, original, copy);
        bt_trace_set_user_attributes(copy, bt_trace_borrow_user_attributes_const(original));
        if (!trace_copy_environment(original, copy) ||
            bt_trace_add_destruction_listener(original, on_trace_destroyed, trace,
                                              &trace->listener) !=
                    BT_TRACE_ADD_LISTENER_STATUS_OK) {
                trace_copy_free(trace);
                return NULL;
        }
        trace->original = original;
        g_hash_table_insert(graph->traces, (void *)original, trace);
        return trace;
}

StreamCopy *graph_copy_stream(GraphCopy *graph, const bt_stream *original)
{
        StreamCopy *stream = g_hash_table_lookup(graph->streams, original);
        const bt_stream_class *class = bt_stream_borrow_class_const(original);
        StreamClassCopy *class_copy;
        TraceCopy *trace;
        bt_stream *copy;

        if (stream)
                return stream;
        trace = graph_copy_trace(graph, bt_stream_borrow_trace_const(original));
        class_copy =
                trace ? trace_class_copy_stream(
                                graph,
                                graph_copy_trace_class(
                                        graph, bt_stream_class_borrow_trace_class_const(class)),
                                class)
                      : NULL;
        copy = class_copy ? bt_stream_create_with_id(class_copy->copy, trace->copy,
                                                     bt_stream_get_id(original))
                          : NULL;
        if (!copy)
                return NULL;
        if (bt_stream_get_name(original))
                (void)bt_stream_set_name(copy, bt_stream_get_name(original));
        bt_stream_set_user_attributes(copy, bt_stream_borrow_user_attributes_const(original));
        stream = g_new0(StreamCopy, 1);
        *stream = (StreamCopy){
                .original = original, .copy = copy, .class = class_copy, .pid = trace->pid};
        bt_stream_get_ref(original);
        g_hash_table_insert(graph->streams, (void *)original, stream);
        return stream;
}

void graph_copy_end_stream(GraphCopy *graph, const bt_stream *original)
{
        g_hash_table_remove(graph->streams, original);
}
