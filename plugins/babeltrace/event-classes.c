/* SPDX-License-Identifier: MIT */
#include "event-classes.h"

#include <string.h>

enum {
        N_RECENT = 256,
};

/* A slot of the direct-mapped cache in front of the hash table. */
typedef struct Recent {
        const bt_event_class *event_class;
        EventClass *info;
} Recent;

struct EventClasses {
        EventUse use;
        /* borrowed const bt_event_class -> owned EventClass; until the trace class dies */
        GHashTable *infos;
        /* borrowed const bt_trace_class -> owned bt_listener_id; until the trace class dies */
        GHashTable *trace_classes;
        GHashTable *counts; /* owned: see event_counts_new() */
        Recent recent[N_RECENT];
};

EventClasses *event_classes_new(EventUse use)
{
        EventClasses *classes = g_new0(EventClasses, 1);

        classes->use = use;
        classes->infos = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        classes->trace_classes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        classes->counts = event_counts_new();
        return classes;
}

void event_classes_free(EventClasses *classes)
{
        GHashTableIter iter;
        void *trace_class, *id;

        if (!classes)
                return;
        /* A trace class may outlive the component: remove its listener. */
        g_hash_table_iter_init(&iter, classes->trace_classes);
        while (g_hash_table_iter_next(&iter, &trace_class, &id))
                (void)bt_trace_class_remove_destruction_listener(trace_class,
                                                                 *(bt_listener_id *)id);
        g_hash_table_destroy(classes->infos);
        g_hash_table_destroy(classes->trace_classes);
        g_hash_table_destroy(classes->counts);
        g_free(classes);
}

static gboolean event_class_is_of(void *key, void *value, void *trace_class)
{
        return ((const EventClass *)value)->trace_class == trace_class;
}

static void event_classes_on_trace_class_destroyed(const bt_trace_class *trace_class, void *data)
{
        EventClasses *classes = data;

        memset(classes->recent, 0, sizeof(classes->recent));
        g_hash_table_foreach_remove(classes->infos, event_class_is_of, (void *)trace_class);
        g_hash_table_remove(classes->trace_classes, trace_class);
}

static void event_classes_listen(EventClasses *classes, const bt_trace_class *trace_class)
{
        g_autofree bt_listener_id *id = NULL;

        if (g_hash_table_contains(classes->trace_classes, trace_class))
                return;
        id = g_new0(bt_listener_id, 1);
        if (bt_trace_class_add_destruction_listener(trace_class,
                                                    event_classes_on_trace_class_destroyed, classes,
                                                    id) != BT_TRACE_CLASS_ADD_LISTENER_STATUS_OK)
                g_error("Out of memory");
        g_hash_table_insert(classes->trace_classes, (void *)trace_class, g_steal_pointer(&id));
}

static EventClass *event_classes_add(EventClasses *classes, const bt_event_class *event_class)
{
        const bt_stream_class *stream_class = bt_event_class_borrow_stream_class_const(event_class);
        const bt_field_class *context =
                bt_stream_class_borrow_event_common_context_field_class_const(stream_class);
        const char *name = bt_event_class_get_name(event_class);
        EventClass *info = g_new0(EventClass, 1);
        const Event *event;
        bool is_later;

        info->trace_class = bt_stream_class_borrow_trace_class_const(stream_class);
        event_classes_listen(classes, info->trace_class);
        g_hash_table_insert(classes->infos, (void *)event_class, info);

        if (!name || !event_name_is_dotnet(name))
                return info;
        event = event_by_name_or_later(name, &is_later);
        info->is_dotnet = true;
        info->is_wanted = event && event_kind_is_wanted(event->kind, classes->use);
        if (info->is_wanted)
                layout_init(&info->layout, event, is_later,
                            bt_event_class_borrow_payload_field_class_const(event_class));
        /* If a later version does not start with the fields of the row, its fields are unknown. */
        if (is_later && info->is_wanted && info->layout.encoding == ENCODING_MISMATCH) {
                info->is_wanted = false;
                event = NULL;
        }
        info->counts = event_counts_get(classes->counts, name, event, is_later);
        if (!info->is_wanted)
                return info;

        if (context) {
                info->vpid = member_find(context, "vpid");
                info->vtid = member_find(context, "vtid");
                info->pid_ns = member_find(context, "pid_ns");
                info->procname = member_find(context, "procname");
        }
        return info;
}

EventClass *event_classes_get(EventClasses *classes, const bt_event_class *event_class)
{
        uintptr_t address = (uintptr_t)event_class;
        Recent *recent = &classes->recent[(address >> 4 ^ address >> 12) % N_RECENT];
        EventClass *info;

        if (event_class == recent->event_class)
                return recent->info;
        info = g_hash_table_lookup(classes->infos, event_class);
        if (!info)
                info = event_classes_add(classes, event_class);
        *recent = (Recent){event_class, info};
        return info;
}

GHashTable *event_classes_counts(const EventClasses *classes)
{
        return classes->counts;
}
