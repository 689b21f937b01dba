/* SPDX-License-Identifier: MIT */
#include "ctf/layout.h"

#include "event/decode-walk.h"
#include "event/type-list.h"
#include "util/utf8.h"

#include <string.h>

/* The fields of a packed event in the runtime's LTTng provider, without the underscore. */
#define PACKED_LENGTH "length"
#define PACKED_DATA   "__data__"
/* lttng-ust's own field for the element count of `__data__`. */
#define PACKED_DATA_LENGTH "___data___length"

enum {
        PACKED_N_MEMBERS = 3,
        GUID_SIZE = 16,
};

static CtfClass *layout_member(const CtfClass *structure, const char *name)
{
        const CtfMember *member = ctf_class_member(structure, name);

        return member ? member->class : NULL;
}

static bool class_is_integer(const CtfClass *class)
{
        return class && class->kind == CTF_KIND_INTEGER;
}

static bool class_is_array(const CtfClass *class)
{
        return class && (class->kind == CTF_KIND_ARRAY || class->kind == CTF_KIND_SEQUENCE) &&
               class_is_integer(class->element);
}

static bool class_fits(const CtfClass *class, FieldType type)
{
        switch (type) {
        case FIELD_TYPE_U8:
        case FIELD_TYPE_U16:
        case FIELD_TYPE_U32:
        case FIELD_TYPE_U64:
        case FIELD_TYPE_BOOL:
                return class_is_integer(class);
        case FIELD_TYPE_WSTRING:
        case FIELD_TYPE_ASTRING:
                return class && ctf_class_is_text(class);
        case FIELD_TYPE_GUID:
        case FIELD_TYPE_U64_ARRAY:
        case FIELD_TYPE_IL_OFFSETS:
        case FIELD_TYPE_U32_ARRAY:
        case FIELD_TYPE_U8_ARRAY:
        case FIELD_TYPE_TYPE_LIST:
                return class_is_array(class) && !class->element->is_text;
        case _FIELD_TYPE_MAX:
                break;
        }
        return false;
}

/* Marks the class: its value is kept while an event is read. */
static const CtfClass *layout_keep(CtfClass *class)
{
        if (class)
                class->slot = 0;
        return class;
}

/* Keeps the values of all members of a context, if each is one integer or text. */
static bool layout_keep_context(CtfClass *context)
{
        guint i;

        for (i = 0; context && i < context->members->len; i++) {
                CtfClass *member = g_array_index(context->members, CtfMember, i).class;

                if (!(class_is_integer(member) && member->role == CTF_ROLE_NONE) &&
                    !ctf_class_is_text(member))
                        return false;
        }
        for (i = 0; context && i < context->members->len; i++)
                layout_keep(g_array_index(context->members, CtfMember, i).class);
        return context != NULL;
}

static bool event_layout_packed(CtfEventLayout *layout, const CtfClass *payload)
{
        CtfClass *length = layout_member(payload, PACKED_LENGTH);
        CtfClass *data = layout_member(payload, PACKED_DATA);

        if (payload->members->len != PACKED_N_MEMBERS || !class_is_integer(length) ||
            !class_is_array(data) || data->element->size != 8 || data->element->align > 8 ||
            data->element->is_text || !layout_member(payload, PACKED_DATA_LENGTH))
                return false;
        layout->length = layout_keep(length);
        layout->data = layout_keep(data);
        return true;
}

static CtfEncoding event_layout_encoding(CtfEventLayout *layout, const CtfClass *payload)
{
        const Event *event = layout->event;
        unsigned i;

        if (!payload || !payload->members->len)
                return event->n_fields == 0 ? CTF_ENCODING_PLAIN : CTF_ENCODING_MISMATCH;
        if (event_layout_packed(layout, payload))
                return CTF_ENCODING_PACKED;
        /* A member missing in the row is like a byte left over in a blob. */
        if (layout->is_later ? payload->members->len < event->n_fields
                             : payload->members->len != event->n_fields)
                return CTF_ENCODING_MISMATCH;
        for (i = 0; i < event->n_fields; i++) {
                CtfClass *field = layout_member(payload, field_name(event->fields[i].name));

                if (!class_fits(field, event->fields[i].type))
                        return CTF_ENCODING_MISMATCH;
                layout->fields[i] = layout_keep(field);
                layout->has_elements |= field->kind != CTF_KIND_INTEGER;
        }
        return CTF_ENCODING_PLAIN;
}

/* Specific context and payload are adjacent: one structure around both gives one program. */
static CtfProgram *event_layout_compile(CtfTraceClass *trace, CtfEventClass *class,
                                        uint32_t *n_slots, bool is_byte_aligned)
{
        CtfClass *both;

        if (!class->specific_context || !class->payload)
                return ctf_program_new(class->payload ? class->payload : class->specific_context,
                                       n_slots, &is_byte_aligned);
        both = ctf_class_new(&trace->arena, CTF_KIND_STRUCTURE);
        if (!both)
                return NULL;
        ctf_class_add_member(both, "", "", class->specific_context);
        ctf_class_add_member(both, "", "", class->payload);
        return ctf_program_new(both, n_slots, &is_byte_aligned);
}

static void event_layout_free(void *data)
{
        CtfEventLayout *layout = data;

        ctf_program_free(layout->program);
        g_free(layout);
}

static CtfEventLayout *event_layout_new(CtfTraceClass *trace, CtfEventClass *class, EventUse use,
                                        GHashTable *counts, uint32_t first_slot,
                                        bool is_byte_aligned, uint32_t *n_slots)
{
        CtfEventLayout *layout = g_new0(CtfEventLayout, 1);
        const Event *event;

        layout->class = class;
        if (event_name_is_dotnet(class->name)) {
                event = event_by_name_or_later(class->name, &layout->is_later);
                if (event && event_kind_is_wanted(event->kind, use)) {
                        layout->event = event;
                        layout->encoding = event_layout_encoding(layout, class->payload);
                }
                /* A later version begins with the fields of the row. */
                if (layout->is_later && layout->event && layout->encoding == CTF_ENCODING_MISMATCH)
                        event = layout->event = NULL;
                layout->counts = event_counts_get(counts, class->name, event, layout->is_later);
        }
        layout->program = event_layout_compile(trace, class, &first_slot, is_byte_aligned);
        *n_slots = MAX(*n_slots, first_slot);
        return layout;
}

CtfLayout *ctf_layout_new(CtfTraceClass *trace, CtfStreamClass *stream, EventUse use,
                          GHashTable *counts)
{
        CtfLayout *layout = g_new0(CtfLayout, 1);
        bool is_byte_aligned = true;
        uint32_t n_slots = 0;
        GHashTableIter iter;
        void *value;

        layout->trace = trace;
        layout->stream = stream;
        layout->events =
                g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, event_layout_free);
        layout->vpid = layout_keep(layout_member(stream->event_context, "vpid"));
        layout->vtid = layout_keep(layout_member(stream->event_context, "vtid"));
        layout->pid_ns = layout_keep(layout_member(stream->event_context, "pid_ns"));
        layout->procname = layout_keep(layout_member(stream->event_context, "procname"));
        layout->is_context_kept = layout_keep_context(stream->event_context);
        layout->packet_header = ctf_program_new(trace->packet_header, &n_slots, &is_byte_aligned);
        layout->packet_context =
                ctf_program_new(stream->packet_context, &n_slots, &is_byte_aligned);
        layout->n_head_slots = n_slots;
        is_byte_aligned = false; /* an event may end anywhere */
        layout->event_header = ctf_program_new(stream->event_header, &n_slots, &is_byte_aligned);
        layout->event_context = ctf_program_new(stream->event_context, &n_slots, &is_byte_aligned);
        layout->n_slots = n_slots;
        g_hash_table_iter_init(&iter, stream->events);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                CtfEventClass *class = value;
                CtfEventLayout *event = event_layout_new(trace, class, use, counts, n_slots,
                                                         is_byte_aligned, &layout->n_slots);

                g_hash_table_insert(layout->events, &class->id, event);
                if (class->id < G_N_ELEMENTS(layout->dense))
                        layout->dense[class->id] = event;
                if (g_hash_table_size(stream->events) == 1)
                        layout->event_id = class->id;
        }
        return layout;
}

void ctf_layout_free(CtfLayout *layout)
{
        if (!layout)
                return;
        ctf_program_free(layout->packet_header);
        ctf_program_free(layout->packet_context);
        ctf_program_free(layout->event_header);
        ctf_program_free(layout->event_context);
        g_hash_table_destroy(layout->events);
        g_free(layout);
}

/* A field source over plain CTF fields. */
typedef struct CtfSource {
        Source source;
        const CtfEventLayout *layout;
        const CtfSlot *slots;
        DecodeScratch *scratch;
} CtfSource;

static bool ctf_source_number(const CtfClass *class, uint64_t value, uint64_t max,
                              uint64_t *ret_value)
{
        *ret_value = value;
        return value <= max && !(class->is_signed && (int64_t)value < 0);
}

/* Copies the elements, little-endian, to the scratch; false if one does not fit into SIZE bytes. */
static bool ctf_source_array(CtfSource *source, const CtfClass *class, uint64_t count,
                             unsigned size, bool is_signed, Value *ret_value)
{
        const CtfSlot *slot = &source->slots[class->slot];
        const CtfClass *element = class->element;
        const unsigned stride = (element->size + element->align - 1) & ~(element->align - 1);
        const uint64_t max = UINT64_MAX >> (64 - 8 * size);
        const int64_t min = is_signed ? -(INT64_C(1) << (8 * size - 1)) : 0;
        uint64_t i, at = slot->shift;
        uint8_t *out;
        unsigned j;

        if (slot->n != count || count > UINT32_MAX)
                return false;
        out = decode_scratch_take(source->scratch, count * size);
        ret_value->data = out;
        ret_value->n = (uint32_t)count;
        for (i = 0; i < count; i++, at += stride) {
                uint64_t value = ctf_read_integer(slot->data + at / 8, at % 8, element->size,
                                                  element->is_big_endian);

                if (element->is_signed && element->size < 64 && value >> (element->size - 1))
                        value |= UINT64_MAX << element->size;
                if (element->is_signed && (int64_t)value < 0 ? (int64_t)value < min : value > max)
                        return false;
                for (j = 0; j < size; j++)
                        *out++ = (uint8_t)(value >> 8 * j);
        }
        return true;
}

static bool ctf_source_text(CtfSource *source, const CtfClass *class, Value *ret_value)
{
        const CtfSlot *slot = &source->slots[class->slot];
        const uint8_t *end = NULL;
        uint64_t n = slot->n;
        uint8_t *out;

        if (class->kind != CTF_KIND_STRING && n)
                end = memchr(slot->data, 0, n);
        if (end)
                n = (uint64_t)(end - slot->data);
        if (n > UINT32_MAX / 3)
                return false;
        if (utf8_is_text((const char *)slot->data, n)) {
                ret_value->data = slot->data;
                ret_value->n = (uint32_t)n;
                return true;
        }
        out = source->scratch->bytes + source->scratch->n_bytes;
        ret_value->data = out;
        ret_value->n = (uint32_t)utf8_make_valid(slot->data, n, out);
        source->scratch->n_bytes += ret_value->n;
        return true;
}

static inline DecodeResult ctf_source_read(Source *base, unsigned index, FieldType type,
                                           uint32_t count, Value *ret_value)
{
        static const uint64_t MAX_VALUES[_FIELD_TYPE_MAX] = {
                [FIELD_TYPE_U8] = UINT8_MAX,
                [FIELD_TYPE_U16] = UINT16_MAX,
                [FIELD_TYPE_U32] = UINT32_MAX,
                [FIELD_TYPE_U64] = UINT64_MAX,
        };
        CtfSource *source = (CtfSource *)base;
        const CtfClass *class = source->layout->fields[index];
        const uint64_t value = source->slots[class->slot].value;
        bool is_ok = true;

        switch (type) {
        case FIELD_TYPE_U8:
        case FIELD_TYPE_U16:
        case FIELD_TYPE_U32:
        case FIELD_TYPE_U64:
                is_ok = ctf_source_number(class, value, MAX_VALUES[type], &ret_value->u);
                break;
        case FIELD_TYPE_BOOL:
                ret_value->u = value != 0;
                break;
        case FIELD_TYPE_WSTRING:
        case FIELD_TYPE_ASTRING:
                is_ok = ctf_source_text(source, class, ret_value);
                break;
        case FIELD_TYPE_GUID:
                is_ok = ctf_source_array(source, class, GUID_SIZE, 1, true, ret_value);
                break;
        case FIELD_TYPE_IL_OFFSETS:
                is_ok = ctf_source_array(source, class, count, 4, true, ret_value);
                break;
        case FIELD_TYPE_U64_ARRAY:
        case FIELD_TYPE_U32_ARRAY:
        case FIELD_TYPE_U8_ARRAY:
                is_ok = ctf_source_array(source, class, count, field_type_element_size(type), false,
                                         ret_value);
                break;
        case FIELD_TYPE_TYPE_LIST:
                is_ok = ctf_source_array(source, class, source->slots[class->slot].n, 1, true,
                                         ret_value) &&
                        type_list_size(ret_value->data, ret_value->n, count) == ret_value->n;
                break;
        case _FIELD_TYPE_MAX:
                g_assert_not_reached();
        }
        return is_ok ? DECODE_OK : DECODE_MISMATCH;
}

static inline DecodeResult ctf_source_finish(Source *source)
{
        return DECODE_OK;
}

static DecodeResult event_layout_decode_plain(const CtfEventLayout *layout, const CtfSlot *slots,
                                              DecodeScratch *scratch, Record *record)
{
        CtfSource source = {
                .layout = layout,
                .slots = slots,
                .scratch = scratch,
        };

        decode_scratch_reserve(scratch, ctf_layout_decode_size(layout, slots));
        return decode_walk(layout->event, &source.source, ctf_source_read, ctf_source_finish,
                           record);
}

size_t ctf_layout_decode_size(const CtfEventLayout *layout, const CtfSlot *slots)
{
        size_t size = 0;
        unsigned i;

        switch (layout->encoding) {
        case CTF_ENCODING_PLAIN:
                /* Texts take at most 3 bytes a byte, and arrays 8 bytes an element. */
                for (i = 0; layout->has_elements && i < layout->event->n_fields; i++)
                        if (layout->fields[i]->kind != CTF_KIND_INTEGER)
                                size += 8 * slots[layout->fields[i]->slot].n;
                break;
        case CTF_ENCODING_PACKED:
                size = packed_decode_size(slots[layout->data->slot].n);
                break;
        case CTF_ENCODING_MISMATCH:
                break;
        }
        return size;
}

DecodeResult ctf_layout_decode(const CtfEventLayout *layout, const CtfSlot *slots,
                               DecodeScratch *scratch, Record *record)
{
        const CtfSlot *data;

        decode_scratch_reset(scratch);
        switch (layout->encoding) {
        case CTF_ENCODING_PLAIN:
                return event_layout_decode_plain(layout, slots, scratch, record);
        case CTF_ENCODING_PACKED:
                data = &slots[layout->data->slot];
                if (slots[layout->length->slot].value != data->n || data->shift)
                        return DECODE_MISMATCH;
                return packed_decode(layout->event, layout->is_later, data->data, data->n, scratch,
                                     record);
        case CTF_ENCODING_MISMATCH:
                break;
        }
        return DECODE_MISMATCH;
}

static void layout_free(void *data)
{
        ctf_layout_free(data);
}

GHashTable *ctf_layouts_new(CtfTraceClass *trace, EventUse use, GHashTable *counts)
{
        GHashTable *layouts = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, layout_free);
        GHashTableIter iter;
        void *value;

        g_hash_table_iter_init(&iter, trace->streams);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                CtfStreamClass *stream = value;
                CtfLayout *layout = ctf_layout_new(trace, stream, use, counts);

                layout->siblings = layouts;
                g_hash_table_insert(layouts, &stream->id, layout);
        }
        return layouts;
}
