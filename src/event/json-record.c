/* SPDX-License-Identifier: MIT */
#include "event/json-record.h"

#include "event/async-events.h"
#include "event/decode.h"
#include "event/type-list.h"
#include "util/bytes.h"
#include "util/guid-text.h"
#include "util/json-text.h"

#include <string.h>

#define APPEND_LITERAL(out, literal) g_string_append_len(out, literal, sizeof(literal) - 1)

static void json_append_i64(GString *out, int64_t i)
{
        if (i < 0)
                g_string_append_c(out, '-');
        json_append_u64(out, i < 0 ? -(uint64_t)i : (uint64_t)i);
}

static void json_append_guid(GString *out, const uint8_t *bytes)
{
        char text[GUID_TEXT_SIZE];

        guid_to_text(bytes, text);
        g_string_append_c(out, '"');
        g_string_append_len(out, text, GUID_TEXT_SIZE - 1);
        g_string_append_c(out, '"');
}

static void json_append_array(GString *out, FieldType type, const Value *value)
{
        unsigned size = field_type_element_size(type);
        uint32_t i;

        g_string_append_c(out, '[');
        for (i = 0; i < value->n; i++) {
                uint64_t element = bytes_number(value->data + (size_t)i * size, size);

                if (i)
                        g_string_append_c(out, ',');
                if (type == FIELD_TYPE_U64_ARRAY)
                        json_append_hex(out, element);
                else if (type == FIELD_TYPE_IL_OFFSETS)
                        json_append_i64(out, (int32_t)element);
                else
                        json_append_u64(out, element);
        }
        g_string_append_c(out, ']');
}

static void json_append_utf16(GString *out, const uint8_t *units, size_t n)
{
        g_autofree uint8_t *text = g_malloc(3 * n + 1);

        json_append_text(out, (const char *)text, utf16le_to_utf8(units, n, text));
}

static void json_append_types(GString *out, const Value *value)
{
        const uint8_t *at = value->data;
        const char *comma = "";
        size_t n = value->n;
        TypeRow row;

        g_string_append_c(out, '[');
        for (; type_list_next(&at, &n, &row); comma = ",") {
                const Value arguments = {.data = row.arguments, .n = row.n_arguments};

                g_string_append(out, comma);
                APPEND_LITERAL(out, "{\"TypeID\":");
                json_append_hex(out, row.type_id);
                APPEND_LITERAL(out, ",\"ModuleID\":");
                json_append_hex(out, row.module_id);
                APPEND_LITERAL(out, ",\"TypeNameID\":");
                json_append_u64(out, row.token);
                APPEND_LITERAL(out, ",\"Flags\":");
                json_append_u64(out, row.flags);
                APPEND_LITERAL(out, ",\"CorElementType\":");
                json_append_u64(out, row.element_type);
                APPEND_LITERAL(out, ",\"Name\":");
                json_append_utf16(out, row.name, row.n_name);
                APPEND_LITERAL(out, ",\"TypeParameters\":");
                json_append_array(out, FIELD_TYPE_U64_ARRAY, &arguments);
                g_string_append_c(out, '}');
        }
        g_string_append_c(out, ']');
}

static void json_append_value(GString *out, FieldType type, const Value *value)
{
        switch (type) {
        case FIELD_TYPE_U8:
        case FIELD_TYPE_U16:
        case FIELD_TYPE_U32:
                json_append_u64(out, value->u);
                break;
        case FIELD_TYPE_U64:
                json_append_hex(out, value->u);
                break;
        case FIELD_TYPE_BOOL:
                g_string_append(out, value->u ? "true" : "false");
                break;
        case FIELD_TYPE_GUID:
                json_append_guid(out, value->data);
                break;
        case FIELD_TYPE_WSTRING:
        case FIELD_TYPE_ASTRING:
                json_append_text(out, (const char *)value->data, value->n);
                break;
        case FIELD_TYPE_U64_ARRAY:
        case FIELD_TYPE_IL_OFFSETS:
        case FIELD_TYPE_U32_ARRAY:
        case FIELD_TYPE_U8_ARRAY:
                json_append_array(out, type, value);
                break;
        case FIELD_TYPE_TYPE_LIST:
                json_append_types(out, value);
                break;
        case _FIELD_TYPE_MAX:
                g_assert_not_reached();
        }
}

static void json_append_async_stack(GString *out, const AsyncStack *stack)
{
        bool has_states = false;
        unsigned i;

        APPEND_LITERAL(out, ",\"id\":");
        json_append_u64(out, stack->id);
        if (stack->parent) {
                APPEND_LITERAL(out, ",\"parent\":");
                json_append_u64(out, stack->parent);
        }
        APPEND_LITERAL(out, ",\"index\":");
        json_append_u64(out, stack->index);
        APPEND_LITERAL(out, ",\"frames\":[");
        for (i = 0; i < stack->n; i++) {
                if (i)
                        g_string_append_c(out, ',');
                json_append_hex(out, stack->addresses[i]);
                has_states |= stack->states[i] != 0;
        }
        g_string_append_c(out, ']');
        for (i = 0; has_states && i < stack->n; i++) {
                g_string_append(out, i ? "," : ",\"states\":[");
                json_append_i64(out, stack->states[i]);
        }
        if (has_states)
                g_string_append_c(out, ']');
}

static void json_append_async_event(GString *out, const AsyncEvent *event)
{
        g_autofree AsyncStack *stack = g_new(AsyncStack, 1);
        const Value payload = {.data = event->payload, .n = (uint32_t)event->n};
        const char *name = async_event_name(event->id);

        APPEND_LITERAL(out, "{\"event\":\"");
        if (name)
                g_string_append(out, name);
        else
                g_string_append_printf(out, "%u", event->id);
        APPEND_LITERAL(out, "\",\"time\":");
        json_append_time(out, event->time);
        if (async_event_stack(event, stack)) {
                json_append_async_stack(out, stack);
        } else if (event->n) {
                APPEND_LITERAL(out, ",\"payload\":");
                json_append_array(out, FIELD_TYPE_U8_ARRAY, &payload);
        }
        g_string_append_c(out, '}');
}

/* Bytes of another version are written as they are. */
static void json_append_async(GString *out, const Value *value)
{
        const char *comma = "";
        AsyncLengths lengths;
        AsyncBuffer buffer;
        AsyncEvent event;

        async_lengths_init(&lengths);
        if (!async_buffer_read(&buffer, value->data, value->n)) {
                json_append_array(out, FIELD_TYPE_U8_ARRAY, value);
                return;
        }
        g_string_append_printf(out, "{\"tid\":%" G_GUINT64_FORMAT ",\"events\":[",
                               (guint64)buffer.tid);
        for (; async_buffer_next(&buffer, &lengths, &event); comma = ",") {
                g_string_append(out, comma);
                json_append_async_event(out, &event);
        }
        g_string_append(out, buffer.cursor.has_failed ? "],\"damaged\":true}" : "]}");
}

static void json_append_optional_time(GString *out, const char *key, bool is_known, uint64_t time)
{
        g_string_append(out, key);
        if (is_known)
                json_append_time(out, time);
        else
                APPEND_LITERAL(out, "null");
}

void json_append_record(GString *out, const Record *record)
{
        const Event *event = record->event;
        unsigned i;

        APPEND_LITERAL(out, "{\"event\":\"");
        g_string_append(out, event->name);
        APPEND_LITERAL(out, "\",\"provider\":\"");
        g_string_append(out, provider_name(event->provider));
        json_append_optional_time(out, "\",\"time\":", true, record->time);
        APPEND_LITERAL(out, ",\"pid_ns\":");
        json_append_u64(out, record->process.pid_ns);
        APPEND_LITERAL(out, ",\"pid\":");
        json_append_i64(out, record->process.pid);
        APPEND_LITERAL(out, ",\"tid\":");
        /* Unknown without the context. */
        if (record->tid)
                json_append_i64(out, record->tid);
        else
                APPEND_LITERAL(out, "null");
        APPEND_LITERAL(out, ",\"fields\":{");
        for (i = 0; i < event->n_fields; i++) {
                if (i)
                        g_string_append_c(out, ',');
                g_string_append_c(out, '"');
                g_string_append(out, field_name(event->fields[i].name));
                APPEND_LITERAL(out, "\":");
                if (event->fields[i].role == FIELD_ROLE_ASYNC_EVENTS)
                        json_append_async(out, &record->values[i]);
                else
                        json_append_value(out, event->fields[i].type, &record->values[i]);
        }
        APPEND_LITERAL(out, "}}\n");
}

void json_append_gap(GString *out, uint64_t stream_id, const StreamGap *gap)
{
        APPEND_LITERAL(out, "{\"event\":\"");
        g_string_append(out, gap_kind_name(gap->kind));
        APPEND_LITERAL(out, "\",\"stream\":");
        json_append_u64(out, stream_id);
        APPEND_LITERAL(out, ",\"count\":");
        if (gap->count == GAP_COUNT_UNKNOWN)
                APPEND_LITERAL(out, "null");
        else
                json_append_u64(out, gap->count);
        json_append_optional_time(out, ",\"begin\":", gap->begin > 0, gap->begin);
        json_append_optional_time(out, ",\"end\":", gap->end < UINT64_MAX, gap->end);
        APPEND_LITERAL(out, "}\n");
}
