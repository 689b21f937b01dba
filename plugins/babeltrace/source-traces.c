/* SPDX-License-Identifier: MIT */
#include "source-traces.h"

#include "ctf/error.h"
#include "field-classes.h"
#include "graph-mip.h"

#include <limits.h>
#include <string.h>

/* A trace, in one or several directories. */
typedef struct SourceTrace {
        const CtfTraceClass *ctf; /* borrowed: of the first directory */
        bt_trace_class *class;    /* owned */
        bt_trace *trace;          /* owned */
        GHashTable *clocks;       /* borrowed CtfClock -> owned bt_clock_class */
        GHashTable *classes;      /* owned uint64_t -> owned SourceStreamClass */
} SourceTrace;

static bool traces_fail(GError **error, CtfError code, const char *what)
{
        if (error && !*error)
                g_set_error(error, CTF_ERROR, code, "%s", what);
        return false;
}

static uint64_t *copy_id(uint64_t id)
{
        return g_memdup2(&id, sizeof(id));
}

/* ID, or an unused id if ID is in use: babeltrace2 aborts on a duplicate. */
static uint64_t take_id(GHashTable *ids, uint64_t id)
{
        while (g_hash_table_contains(ids, &id))
                id = id < UINT32_MAX ? UINT64_C(1) << 32 : id + 1;
        g_hash_table_add(ids, copy_id(id));
        return id;
}

static GHashTable *ids_new(void)
{
        return g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
}

static void stream_class_free(void *data)
{
        SourceStreamClass *class = data;

        bt_stream_class_put_ref(class->class);
        g_hash_table_destroy(class->event_ids);
        g_hash_table_destroy(class->stream_ids);
        g_hash_table_destroy(class->events);
        g_free(class);
}

static void clock_class_free(void *data)
{
        bt_clock_class_put_ref(data);
}

static void trace_free(void *data)
{
        SourceTrace *trace = data;

        g_hash_table_destroy(trace->classes);
        g_hash_table_destroy(trace->clocks);
        bt_trace_put_ref(trace->trace);
        bt_trace_class_put_ref(trace->class);
        g_free(trace);
}

static void stream_free(void *data)
{
        SourceStream *stream = data;

        bt_packet_put_ref(stream->packet);
        bt_stream_put_ref(stream->stream);
        g_free(stream);
}

static void event_class_free(void *data)
{
        SourceEventClass *class = data;

        bt_event_class_put_ref(class->named);
        bt_event_class_put_ref(class->declared);
        g_free(class);
}

/* Names a trace as babeltrace2's own source does: HOST, or HOST/NAME. */
static void trace_set_name(bt_trace *trace, const CtfTraceClass *ctf, const char *name)
{
        const CtfEnvironment *host = ctf_trace_class_environment(ctf, "hostname");
        g_autoptr(GString) text = g_string_new(host && host->text ? host->text : "");

        if (name)
                g_string_append_printf(text, "%s%s", text->len ? "/" : "", name);
        (void)bt_trace_set_name(trace, text->str);
}

static SourceTrace *trace_new(SourceTraces *traces, const CtfTraceClass *ctf, const char *name)
{
        SourceTrace *trace = g_new0(SourceTrace, 1);
        guint i;

        trace->ctf = ctf;
        trace->clocks = g_hash_table_new_full(NULL, NULL, NULL, clock_class_free);
        trace->classes =
                g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, stream_class_free);
        trace->class = bt_trace_class_create(traces->self);
        bt_trace_class_set_assigns_automatic_stream_class_id(trace->class, BT_FALSE);
        trace->trace = bt_trace_create(trace->class);
        for (i = 0; i < ctf->environment->len; i++) {
                const CtfEnvironment *entry = &g_array_index(ctf->environment, CtfEnvironment, i);

                if (entry->text)
                        (void)bt_trace_set_environment_entry_string(trace->trace, entry->name,
                                                                    entry->text);
                else
                        (void)bt_trace_set_environment_entry_integer(trace->trace, entry->name,
                                                                     entry->number);
        }
        graph_mip_set_trace_identity(traces->mip, trace->trace, ctf);
        trace_set_name(trace->trace, ctf, name);
        g_ptr_array_add(traces->traces, trace);
        return trace;
}

static bool is_same_trace(const CtfTraceClass *a, const CtfTraceClass *b)
{
        if (a == b)
                return true;
        if (a->major != b->major)
                return false;
        if (a->has_uuid || b->has_uuid)
                return a->has_uuid && b->has_uuid && !memcmp(a->uuid, b->uuid, 16);
        return a->uid && b->uid && !strcmp(a->uid, b->uid) &&
               !g_strcmp0(a->name_space, b->name_space);
}

static SourceTrace *traces_trace(SourceTraces *traces, const CtfTraceClass *ctf, const char *name)
{
        guint i;

        for (i = 0; i < traces->traces->len; i++) {
                SourceTrace *trace = traces->traces->pdata[i];

                if (is_same_trace(trace->ctf, ctf))
                        return trace;
        }
        return trace_new(traces, ctf, name);
}

static bool is_same_clock(const CtfClock *a, const CtfClock *b)
{
        if (!a || !b)
                return a == b;
        return a->frequency == b->frequency && a->offset_seconds == b->offset_seconds &&
               a->offset_cycles == b->offset_cycles && a->is_absolute == b->is_absolute;
}

/*
 * Each directory of a trace has its own metadata. babeltrace2 2.1 treats clocks without an identity
 * as the same only if they are one object.
 */
static bt_clock_class *trace_find_clock(const SourceTrace *trace, const CtfClock *clock)
{
        GHashTableIter iter;
        void *key, *value;

        g_hash_table_iter_init(&iter, trace->clocks);
        while (g_hash_table_iter_next(&iter, &key, &value))
                if (is_same_clock(key, clock) &&
                    !g_strcmp0(((const CtfClock *)key)->name, clock->name))
                        return value;
        return NULL;
}

static bt_clock_class *trace_clock(SourceTraces *traces, SourceTrace *trace, const CtfClock *clock,
                                   GError **error)
{
        bt_clock_class *out = trace_find_clock(trace, clock);
        uint64_t cycles;
        int64_t seconds;

        if (out)
                return out;
        /* Refuse clocks on which babeltrace2 aborts. */
        if (clock->frequency == 0 || clock->frequency == UINT64_MAX ||
            __builtin_add_overflow(clock->offset_seconds, clock->offset_cycles / clock->frequency,
                                   &seconds)) {
                traces_fail(error, CTF_ERROR_DAMAGED, "the clock's frequency or offset is wrong");
                return NULL;
        }
        cycles = clock->offset_cycles % clock->frequency;
        out = bt_clock_class_create(traces->self);
        (void)bt_clock_class_set_name(out, clock->name ? clock->name : "");
        bt_clock_class_set_frequency(out, clock->frequency);
        bt_clock_class_set_offset(out, seconds, cycles);
        bt_clock_class_set_origin_is_unix_epoch(out, clock->is_absolute);
        graph_mip_set_clock_identity(traces->mip, out, clock);
        g_hash_table_insert(trace->clocks, (void *)clock, out);
        return out;
}

/* True if the structure has a field of that role. */
static bool has_role(const CtfClass *class, CtfRole role)
{
        guint i;

        if (!class)
                return false;
        if (class->role == role)
                return true;
        for (i = 0; class->members && i < class->members->len; i++)
                if (has_role(g_array_index(class->members, CtfMember, i).class, role))
                        return true;
        return false;
}

static bool stream_class_set_contexts(SourceTraces *traces, bt_trace_class *trace_class,
                                      bt_stream_class *out, const CtfStreamClass *ctf,
                                      GError **error)
{
        g_autoptr(GError) reason = NULL;
        bt_field_class *packet, *event = NULL;

        packet = field_class_new(traces->mip, trace_class, CTF_SCOPE_PACKET_CONTEXT,
                                 ctf->packet_context, &reason);
        if (!reason)
                event = field_class_new(traces->mip, trace_class, CTF_SCOPE_EVENT_CONTEXT,
                                        ctf->event_context, &reason);
        if (packet)
                (void)bt_stream_class_set_packet_context_field_class(out, packet);
        if (event)
                (void)bt_stream_class_set_event_common_context_field_class(out, event);
        bt_field_class_put_ref(packet);
        bt_field_class_put_ref(event);
        if (reason)
                g_propagate_prefixed_error(error, g_steal_pointer(&reason), "contexts: ");
        return !error || !*error;
}

static SourceStreamClass *stream_class_new(SourceTraces *traces, SourceTrace *trace,
                                           const CtfLayout *layout, GError **error)
{
        const CtfStreamClass *ctf = layout->stream;
        const CtfClass *context = ctf->packet_context;
        SourceStreamClass *class = g_new0(SourceStreamClass, 1);
        bt_clock_class *clock;

        class->layout = layout;
        class->event_ids = ids_new();
        class->stream_ids = ids_new();
        class->events = ids_new();
        class->class = bt_stream_class_create_with_id(trace->class, ctf->id);
        g_hash_table_insert(trace->classes, copy_id(ctf->id), class);
        bt_stream_class_set_assigns_automatic_event_class_id(class->class, BT_FALSE);
        bt_stream_class_set_assigns_automatic_stream_id(class->class, BT_FALSE);
        if (ctf->clock) {
                clock = trace_clock(traces, trace, ctf->clock, error);
                if (!clock)
                        return NULL;
                (void)bt_stream_class_set_default_clock_class(class->class, clock);
                class->has_clock = true;
                class->has_packet_begin = has_role(context, CTF_ROLE_TIMESTAMP);
                class->has_packet_end = has_role(context, CTF_ROLE_TIMESTAMP_END);
        }
        class->has_loss_times = class->has_packet_begin && class->has_packet_end;
        bt_stream_class_set_supports_packets(class->class, BT_TRUE, class->has_packet_begin,
                                             class->has_packet_end);
        bt_stream_class_set_supports_discarded_events(
                class->class, has_role(context, CTF_ROLE_DISCARDED),
                class->has_loss_times && has_role(context, CTF_ROLE_DISCARDED));
        bt_stream_class_set_supports_discarded_packets(
                class->class, has_role(context, CTF_ROLE_SEQUENCE_NUMBER),
                class->has_loss_times && has_role(context, CTF_ROLE_SEQUENCE_NUMBER));
        return stream_class_set_contexts(traces, trace->class, class->class, ctf, error) ? class
                                                                                         : NULL;
}

/* True if two directories of a trace declare the stream class identically. */
static bool is_same_stream_class(const CtfStreamClass *a, const CtfStreamClass *b)
{
        return is_same_clock(a->clock, b->clock) &&
               ctf_class_equal(a->packet_context, b->packet_context) &&
               ctf_class_equal(a->event_context, b->event_context);
}

/* Finds or makes the class of a layout. */
static SourceStreamClass *traces_add_layout(SourceTraces *traces, const CtfLayout *layout,
                                            const char *name, SourceTrace **ret_trace,
                                            GError **error)
{
        SourceTrace *trace = traces_trace(traces, layout->trace, name);
        SourceStreamClass *class = g_hash_table_lookup(trace->classes, &layout->stream->id);

        if (!class)
                class = stream_class_new(traces, trace, layout, error);
        else if (!is_same_stream_class(class->layout->stream, layout->stream)) {
                traces_fail(error, CTF_ERROR_UNSUPPORTED,
                            "two directories of one trace declare a stream differently");
                return NULL;
        }
        *ret_trace = trace;
        return class;
}

static bool traces_add_stream(SourceTraces *traces, CtfDataStream *stream, const char *name,
                              GError **error)
{
        const CtfDataFile *first = stream->files->pdata[0];
        SourceStream *own = g_new0(SourceStream, 1);
        SourceTrace *trace = NULL;
        guint i;

        g_ptr_array_add(traces->streams, own);
        for (i = 0; i < stream->files->len; i++) {
                const CtfDataFile *file = stream->files->pdata[i];
                SourceTrace *other;
                SourceStreamClass *class =
                        traces_add_layout(traces, file->layout, name, &other, error);

                if (!class) {
                        g_prefix_error(error, "%s: ", file->path);
                        return false;
                }
                if (trace && (other != trace || class != own->class))
                        return traces_fail(error, CTF_ERROR_UNSUPPORTED,
                                           "one stream is in two traces");
                trace = other;
                own->class = class;
        }
        own->stream = bt_stream_create_with_id(
                own->class->class, trace->trace,
                take_id(own->class->stream_ids, stream->identity->stream_id));
        if (!own->stream)
                return traces_fail(error, CTF_ERROR_SYSTEM, "not enough memory");
        (void)bt_stream_set_name((bt_stream *)own->stream, first->path);
        stream->user = own;
        return true;
}

bool source_traces_init(SourceTraces *traces, bt_self_component *self, const CtfReader *reader,
                        const char *name, GError **error)
{
        const GPtrArray *streams = ctf_reader_streams(reader);
        guint i;

        *traces = (SourceTraces){
                .mip = bt_self_component_get_graph_mip_version(self),
                .self = self,
                .traces = g_ptr_array_new_with_free_func(trace_free),
                .streams = g_ptr_array_new_with_free_func(stream_free),
                .event_classes = g_ptr_array_new_with_free_func(event_class_free),
        };
        for (i = 0; i < streams->len; i++)
                if (!traces_add_stream(traces, streams->pdata[i], name, error))
                        return false;
        return true;
}

void source_traces_deinit(SourceTraces *traces)
{
        if (!traces->traces)
                return;
        g_ptr_array_unref(traces->event_classes);
        g_ptr_array_unref(traces->streams);
        g_ptr_array_unref(traces->traces);
        *traces = (SourceTraces){0};
}

/* Sets the fields of EVENT: of its contexts, only the specific one. */
static bool event_class_set_fields(SourceTraces *traces, bt_trace_class *trace_class,
                                   bt_event_class *out, const CtfEventLayout *event, bool is_named,
                                   GError **error)
{
        g_autoptr(GError) reason = NULL;
        bt_field_class *context, *payload = NULL;

        context = field_class_new(traces->mip, trace_class, CTF_SCOPE_SPECIFIC_CONTEXT,
                                  event->class->specific_context, &reason);
        if (!reason && is_named)
                payload = field_class_of_row(traces->mip, trace_class, event->event);
        else if (!reason)
                payload = field_class_new(traces->mip, trace_class, CTF_SCOPE_PAYLOAD,
                                          event->class->payload, &reason);
        if (context)
                (void)bt_event_class_set_specific_context_field_class(out, context);
        if (payload)
                (void)bt_event_class_set_payload_field_class(out, payload);
        bt_field_class_put_ref(context);
        bt_field_class_put_ref(payload);
        if (reason) {
                g_propagate_prefixed_error(error, g_steal_pointer(&reason),
                                           "event class \"%s\": ", event->class->name);
                return false;
        }
        return true;
}

static bt_event_class *event_class_new(SourceTraces *traces, SourceStreamClass *class,
                                       const CtfEventLayout *event, bool is_named, GError **error)
{
        const CtfEventClass *ctf = event->class;
        bt_event_class *out =
                bt_event_class_create_with_id(class->class, take_id(class->event_ids, ctf->id));

        if (*ctf->name)
                (void)bt_event_class_set_name(out, ctf->name);
        if (ctf->log_level >= BT_EVENT_CLASS_LOG_LEVEL_EMERGENCY &&
            ctf->log_level <= BT_EVENT_CLASS_LOG_LEVEL_DEBUG)
                bt_event_class_set_log_level(out, (bt_event_class_log_level)ctf->log_level);
        if (!event_class_set_fields(traces, bt_stream_class_borrow_trace_class(class->class), out,
                                    event, is_named, error)) {
                bt_event_class_put_ref(out);
                return NULL;
        }
        return out;
}

static bool is_same_event(const CtfEventLayout *a, const CtfEventLayout *b)
{
        return !strcmp(a->class->name, b->class->name) && a->event == b->event &&
               a->class->log_level == b->class->log_level &&
               ctf_class_equal(a->class->specific_context, b->class->specific_context) &&
               ctf_class_equal(a->class->payload, b->class->payload);
}

/* The classes of EVENT: those of another directory with an identical declaration, or new ones. */
static SourceEventClass *traces_event_classes(SourceTraces *traces, SourceStreamClass *class,
                                              CtfEventLayout *event)
{
        CtfEventLayout *known = g_hash_table_lookup(class->events, &event->class->id);

        if (known && is_same_event(known, event)) {
                event->user = known->user;
        } else {
                event->user = g_new0(SourceEventClass, 1);
                g_ptr_array_add(traces->event_classes, event->user);
                if (!known)
                        g_hash_table_insert(class->events, copy_id(event->class->id), event);
        }
        return event->user;
}

const bt_event_class *source_traces_event_class(SourceTraces *traces, SourceStreamClass *class,
                                                CtfEventLayout *event, bool is_named,
                                                GError **error)
{
        SourceEventClass *own =
                event->user ? event->user : traces_event_classes(traces, class, event);
        bt_event_class **known = is_named ? &own->named : &own->declared;

        if (!*known)
                *known = event_class_new(traces, class, event, is_named, error);
        return *known;
}
