/* SPDX-License-Identifier: MIT */
#include "ctf/class.h"

#include "util/hex-text.h"

#include <limits.h>
#include <string.h>

static void ctf_class_free(void *data)
{
        CtfClass *class = data;
        guint i;

        for (i = 0; class->members && i < class->members->len; i++)
                g_clear_pointer(&g_array_index(class->members, CtfMember, i).ranges, g_array_unref);
        g_clear_pointer(&class->members, g_array_unref);
        g_clear_pointer(&class->labels, g_array_unref);
        g_free(class);
}

void ctf_arena_init(CtfArena *arena)
{
        arena->classes = g_ptr_array_new_with_free_func(ctf_class_free);
        arena->names = g_string_chunk_new(4096);
}

void ctf_arena_deinit(CtfArena *arena)
{
        g_ptr_array_unref(arena->classes);
        g_string_chunk_free(arena->names);
}

CtfClass *ctf_class_new(CtfArena *arena, CtfKind kind)
{
        CtfClass *class;

        if (arena->classes->len >= CTF_MAX_CLASSES)
                return NULL;
        class = g_new0(CtfClass, 1);
        class->kind = kind;
        class->align = 1;
        class->base = 10;
        class->slot = UINT32_MAX;
        if (kind == CTF_KIND_STRUCTURE || kind == CTF_KIND_VARIANT)
                class->members = g_array_new(FALSE, FALSE, sizeof(CtfMember));
        g_ptr_array_add(arena->classes, class);
        return class;
}

const char *ctf_arena_name(CtfArena *arena, const char *name)
{
        return g_string_chunk_insert_const(arena->names, name);
}

void ctf_class_add_member(CtfClass *class, const char *name, const char *declared, CtfClass *member)
{
        const CtfMember entry = {.name = name, .declared = declared, .class = member};

        g_array_append_val(class->members, entry);
}

const CtfMember *ctf_class_member(const CtfClass *class, const char *name)
{
        guint i;

        for (i = 0; class && class->members && i < class->members->len; i++) {
                const CtfMember *member = &g_array_index(class->members, CtfMember, i);

                if (!strcmp(member->name, name))
                        return member;
        }
        return NULL;
}

static bool ranges_equal(const GArray *a, const GArray *b)
{
        if (!a || !b)
                return a == b;
        return a->len == b->len && !memcmp(a->data, b->data, a->len * sizeof(CtfRange));
}

static bool members_equal(const GArray *a, const GArray *b)
{
        guint i;

        if (!a || !b)
                return a == b;
        for (i = 0; i < a->len && i < b->len; i++) {
                const CtfMember *x = &g_array_index(a, CtfMember, i);
                const CtfMember *y = &g_array_index(b, CtfMember, i);

                if (strcmp(x->name, y->name) != 0 || !ranges_equal(x->ranges, y->ranges) ||
                    !ctf_class_equal(x->class, y->class))
                        return false;
        }
        return a->len == b->len;
}

static bool labels_equal(const GArray *a, const GArray *b)
{
        guint i;

        if (!a || !b)
                return a == b;
        for (i = 0; i < a->len && i < b->len; i++) {
                const CtfLabel *x = &g_array_index(a, CtfLabel, i);
                const CtfLabel *y = &g_array_index(b, CtfLabel, i);

                if (strcmp(x->name, y->name) != 0 || x->range.low != y->range.low ||
                    x->range.high != y->range.high)
                        return false;
        }
        return a->len == b->len;
}

bool ctf_class_equal(const CtfClass *a, const CtfClass *b)
{
        if (!a || !b)
                return a == b;
        return a->kind == b->kind && a->align == b->align && a->size == b->size &&
               a->is_signed == b->is_signed && a->is_big_endian == b->is_big_endian &&
               a->is_text == b->is_text && a->base == b->base && a->role == b->role &&
               a->length == b->length && a->origin == b->origin && !g_strcmp0(a->path, b->path) &&
               /* A field with a slot is shown, whatever its role. */
               (a->slot == UINT32_MAX) == (b->slot == UINT32_MAX) &&
               labels_equal(a->labels, b->labels) && members_equal(a->members, b->members) &&
               ctf_class_equal(a->element, b->element);
}

bool ctf_class_is_text(const CtfClass *class)
{
        const CtfClass *element = class->element;

        if (class->kind != CTF_KIND_ARRAY && class->kind != CTF_KIND_SEQUENCE)
                return class->kind == CTF_KIND_STRING;
        return element->kind == CTF_KIND_INTEGER && element->is_text && element->size == 8 &&
               element->align == 8;
}

static void ctf_stream_class_free(void *data)
{
        CtfStreamClass *stream = data;

        g_hash_table_destroy(stream->events);
        g_free(stream);
}

CtfTraceClass *ctf_trace_class_new(void)
{
        CtfTraceClass *trace = g_new0(CtfTraceClass, 1);

        ctf_arena_init(&trace->arena);
        trace->streams =
                g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, ctf_stream_class_free);
        trace->clocks = g_ptr_array_new_with_free_func(g_free);
        trace->environment = g_array_new(FALSE, FALSE, sizeof(CtfEnvironment));
        return trace;
}

void ctf_trace_class_free(CtfTraceClass *trace)
{
        if (!trace)
                return;
        g_hash_table_destroy(trace->streams);
        g_ptr_array_unref(trace->clocks);
        g_array_unref(trace->environment);
        ctf_arena_deinit(&trace->arena);
        g_free(trace);
}

CtfStreamClass *ctf_trace_class_stream(const CtfTraceClass *trace, uint64_t id)
{
        return g_hash_table_lookup(trace->streams, &id);
}

CtfStreamClass *ctf_trace_class_add_stream(CtfTraceClass *trace, uint64_t id)
{
        CtfStreamClass *stream = g_new0(CtfStreamClass, 1);

        stream->id = id;
        stream->events = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, g_free);
        g_hash_table_insert(trace->streams, &stream->id, stream);
        return stream;
}

CtfEventClass *ctf_stream_class_event(const CtfStreamClass *stream, uint64_t id)
{
        return g_hash_table_lookup(stream->events, &id);
}

CtfEventClass *ctf_stream_class_add_event(CtfStreamClass *stream, uint64_t id)
{
        CtfEventClass *event = g_new0(CtfEventClass, 1);

        event->id = id;
        event->name = "";
        event->log_level = INT_MIN;
        g_hash_table_insert(stream->events, &event->id, event);
        return event;
}

CtfClock *ctf_trace_class_add_clock(CtfTraceClass *trace)
{
        CtfClock *clock = g_new0(CtfClock, 1);

        clock->name = "";
        clock->frequency = 1000000000;
        clock->is_absolute = true;
        g_ptr_array_add(trace->clocks, clock);
        return clock;
}

const CtfClock *ctf_trace_class_clock(const CtfTraceClass *trace, const char *name)
{
        guint i;

        for (i = 0; i < trace->clocks->len; i++) {
                const CtfClock *clock = trace->clocks->pdata[i];

                if (!strcmp(clock->name, name))
                        return clock;
        }
        return NULL;
}

void ctf_trace_class_set_environment(CtfTraceClass *trace, const char *name, const char *text,
                                     int64_t number)
{
        const CtfEnvironment entry = {
                .name = ctf_arena_name(&trace->arena, name),
                .text = text ? ctf_arena_name(&trace->arena, text) : NULL,
                .number = number,
        };

        g_array_append_val(trace->environment, entry);
}

const CtfEnvironment *ctf_trace_class_environment(const CtfTraceClass *trace, const char *name)
{
        guint i;

        for (i = 0; i < trace->environment->len; i++) {
                const CtfEnvironment *entry = &g_array_index(trace->environment, CtfEnvironment, i);

                if (!strcmp(entry->name, name))
                        return entry;
        }
        return NULL;
}

bool ctf_uuid_from_text(const char *text, uint8_t ret_uuid[16])
{
        uint8_t uuid[16];
        unsigned i;

        for (i = 0; i < 16; i++) {
                int byte;

                if ((i == 4 || i == 6 || i == 8 || i == 10) && *text++ != '-')
                        return false;
                byte = hex_byte(text);
                if (byte < 0)
                        return false;
                uuid[i] = (uint8_t)byte;
                text += 2;
        }
        if (*text)
                return false;
        memcpy(ret_uuid, uuid, sizeof(uuid));
        return true;
}

void ctf_uuid_from_uid(const char *name_space, const char *uid, uint8_t ret_uuid[16])
{
        g_autoptr(GChecksum) sum = NULL;
        guint8 digest[32];
        gsize n = sizeof(digest);

        if (ctf_uuid_from_text(uid, ret_uuid))
                return;
        sum = g_checksum_new(G_CHECKSUM_SHA256);
        if (name_space)
                g_checksum_update(sum, (const guchar *)name_space, -1);
        g_checksum_update(sum, (const guchar *)"", 1);
        g_checksum_update(sum, (const guchar *)uid, -1);
        g_checksum_get_digest(sum, digest, &n);
        memcpy(ret_uuid, digest, 16);
}
