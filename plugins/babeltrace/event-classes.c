/* SPDX-License-Identifier: MIT */
#include "event-classes.h"

#include <string.h>

enum {
        N_RECENT = 256,
};

/* A slot of the direct-mapped cache before the hash table. */
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
        /* borrowed name (of the value) -> owned EventCounts; never removed */
        GHashTable *counts;
        Recent recent[N_RECENT];
};

static void event_counts_free(void *data)
{
        EventCounts *counts = data;

        g_free(counts->name);
        g_free(counts);
}

EventClasses *event_classes_new(EventUse use)
{
        EventClasses *classes = g_new0(EventClasses, 1);

        classes->use = use;
        classes->infos = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        classes->trace_classes = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        classes->counts = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, event_counts_free);
        return classes;
}

void event_classes_free(EventClasses *classes)
{
        GHashTableIter iter;
        void *trace_class, *id;

        if (!classes)
                return;
        /* A trace class may outlive the component. */
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

static EventCounts *event_classes_counts(EventClasses *classes, const char *name, bool has_row)
{
        EventCounts *counts = g_hash_table_lookup(classes->counts, name);

        if (!counts) {
                counts = g_new0(EventCounts, 1);
                counts->name = g_strdup(name);
                counts->has_row = has_row;
                g_hash_table_insert(classes->counts, counts->name, counts);
        }
        return counts;
}

static EventClass *event_classes_add(EventClasses *classes, const bt_event_class *event_class)
{
        const bt_stream_class *stream_class = bt_event_class_borrow_stream_class_const(event_class);
        const bt_field_class *context =
                bt_stream_class_borrow_event_common_context_field_class_const(stream_class);
        const char *name = bt_event_class_get_name(event_class);
        EventClass *info = g_new0(EventClass, 1);
        const Event *event;

        info->trace_class = bt_stream_class_borrow_trace_class_const(stream_class);
        event_classes_listen(classes, info->trace_class);
        g_hash_table_insert(classes->infos, (void *)event_class, info);

        if (!name || !event_name_is_dotnet(name))
                return info;
        event = event_by_name(name);
        info->is_dotnet = true;
        info->counts = event_classes_counts(classes, name, event != NULL);
        if (!event || !event_kind_is_wanted(event->kind, classes->use))
                return info;

        info->is_wanted = true;
        layout_init(&info->layout, event,
                    bt_event_class_borrow_payload_field_class_const(event_class));
        if (context) {
                info->vpid = member_find(context, "vpid");
                info->vtid = member_find(context, "vtid");
                info->pid_ns = member_find(context, "pid_ns");
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

static int event_counts_compare_names(const void *a, const void *b)
{
        return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

void event_classes_foreach_counts(EventClasses *classes,
                                  void (*function)(const EventCounts *counts, void *data),
                                  void *data)
{
        unsigned i, n;
        g_autofree void **names = g_hash_table_get_keys_as_array(classes->counts, &n);

        qsort(names, n, sizeof(*names), event_counts_compare_names);
        for (i = 0; i < n; i++)
                function(g_hash_table_lookup(classes->counts, names[i]), data);
}
