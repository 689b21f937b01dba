/* SPDX-License-Identifier: MIT */
#include "bt-source.h"
#include "event/type-list.h"
#include "util/guid-text.h"

#include <string.h>

/* Names of a packed event's fields in the runtime's LTTng provider, less one leading underscore. */
#define PACKED_LENGTH "length"
#define PACKED_DATA   "__data__"
/* lttng-ust's field with the element count of `__data__`. */
#define PACKED_DATA_LENGTH "___data___length"

enum {
        PACKED_N_MEMBERS = 3,
};

static MemberKind member_class_kind(const bt_field_class *field_class)
{
        bt_field_class_type type = bt_field_class_get_type(field_class);

        if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
                return MEMBER_UNSIGNED;
        if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
                return MEMBER_SIGNED;
        if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_BOOL))
                return MEMBER_BOOL;
        if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_STRING))
                return MEMBER_STRING;
        if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_ARRAY)) {
                switch (member_class_kind(
                        bt_field_class_array_borrow_element_field_class_const(field_class))) {
                case MEMBER_UNSIGNED:
                        return MEMBER_UNSIGNED_ARRAY;
                case MEMBER_SIGNED:
                        return MEMBER_SIGNED_ARRAY;
                default:
                        return MEMBER_NONE;
                }
        }
        return MEMBER_NONE;
}

/* Size of an array member's elements, in bits. */
static uint64_t member_element_width(const bt_field_class *structure, Member member)
{
        const bt_field_class *array = bt_field_class_structure_member_borrow_field_class_const(
                bt_field_class_structure_borrow_member_by_index_const(structure, member.index));

        return bt_field_class_integer_get_field_value_range(
                bt_field_class_array_borrow_element_field_class_const(array));
}

Member member_find(const bt_field_class *structure, const char *name)
{
        uint64_t i, n = bt_field_class_structure_get_member_count(structure);

        for (i = 0; i < n; i++) {
                const bt_field_class_structure_member *member =
                        bt_field_class_structure_borrow_member_by_index_const(structure, i);

                if (!strcmp(bt_field_class_structure_member_get_name(member), name))
                        return (Member){
                                .index = (uint32_t)i,
                                .kind = member_class_kind(
                                        bt_field_class_structure_member_borrow_field_class_const(
                                                member)),
                        };
        }
        return (Member){.kind = MEMBER_NONE};
}

static const bt_field *member_field(Member member, const bt_field *structure)
{
        return bt_field_structure_borrow_member_field_by_index_const(structure, member.index);
}

bool member_read_integer(Member member, const bt_field *structure, int64_t *ret_value)
{
        switch (member.kind) {
        case MEMBER_UNSIGNED:
                *ret_value = (int64_t)bt_field_integer_unsigned_get_value(
                        member_field(member, structure));
                return true;
        case MEMBER_SIGNED:
                *ret_value = bt_field_integer_signed_get_value(member_field(member, structure));
                return true;
        default:
                return false;
        }
}

const char *member_read_text(Member member, const bt_field *structure)
{
        return member.kind == MEMBER_STRING
                       ? bt_field_string_get_value(member_field(member, structure))
                       : NULL;
}

static bool member_kind_fits(MemberKind kind, FieldType type)
{
        switch (type) {
        case FIELD_TYPE_U8:
        case FIELD_TYPE_U16:
        case FIELD_TYPE_U32:
        case FIELD_TYPE_U64:
                return kind == MEMBER_UNSIGNED || kind == MEMBER_SIGNED;
        case FIELD_TYPE_BOOL:
                return kind == MEMBER_UNSIGNED || kind == MEMBER_SIGNED || kind == MEMBER_BOOL;
        case FIELD_TYPE_WSTRING:
        case FIELD_TYPE_ASTRING:
                return kind == MEMBER_STRING;
        case FIELD_TYPE_GUID:
                /* source.clrsym.ctf gives text, LTTng gives bytes. */
                if (kind == MEMBER_STRING)
                        return true;
                /* fallthrough */
        case FIELD_TYPE_U64_ARRAY:
        case FIELD_TYPE_IL_OFFSETS:
        case FIELD_TYPE_U32_ARRAY:
        case FIELD_TYPE_U8_ARRAY:
        case FIELD_TYPE_TYPE_LIST:
                return kind == MEMBER_UNSIGNED_ARRAY || kind == MEMBER_SIGNED_ARRAY;
        case _FIELD_TYPE_MAX:
                break;
        }
        return false;
}

static bool layout_init_packed(Layout *layout, const bt_field_class *payload)
{
        if (bt_field_class_structure_get_member_count(payload) != PACKED_N_MEMBERS)
                return false;
        layout->length = member_find(payload, PACKED_LENGTH);
        layout->data = member_find(payload, PACKED_DATA);
        return member_kind_fits(layout->length.kind, FIELD_TYPE_U32) &&
               member_kind_fits(layout->data.kind, FIELD_TYPE_U32_ARRAY) &&
               member_element_width(payload, layout->data) == 8 &&
               member_find(payload, PACKED_DATA_LENGTH).kind != MEMBER_NONE;
}

void layout_init(Layout *layout, const Event *event, bool is_later, const bt_field_class *payload)
{
        uint64_t n_members;
        unsigned i;

        *layout = (Layout){.event = event, .is_later = is_later, .encoding = ENCODING_MISMATCH};
        if (!payload || !bt_field_class_structure_get_member_count(payload)) {
                if (event->n_fields == 0)
                        layout->encoding = ENCODING_PLAIN;
                return;
        }
        if (layout_init_packed(layout, payload)) {
                layout->encoding = ENCODING_PACKED;
                return;
        }
        /* A member without a field in the row counts as a left-over byte of a blob. */
        n_members = bt_field_class_structure_get_member_count(payload);
        if (is_later ? n_members < event->n_fields : n_members != event->n_fields)
                return;
        for (i = 0; i < event->n_fields; i++) {
                layout->fields[i] = member_find(payload, field_name(event->fields[i].name));
                if (!member_kind_fits(layout->fields[i].kind, event->fields[i].type))
                        return;
        }
        layout->encoding = ENCODING_PLAIN;
}

void bt_decoder_deinit(BtDecoder *decoder)
{
        decode_scratch_deinit(&decoder->scratch);
        g_free(decoder->blob);
        *decoder = (BtDecoder){0};
}

/* A source over plain CTF fields. */
typedef struct PlainSource {
        Source source;
        const Layout *layout;
        const bt_field *payload;
        DecodeScratch *scratch;
} PlainSource;

static bool plain_read_number(Member member, const bt_field *field, uint64_t max,
                              uint64_t *ret_value)
{
        int64_t value;

        if (member.kind == MEMBER_UNSIGNED) {
                *ret_value = bt_field_integer_unsigned_get_value(field);
                return *ret_value <= max;
        }
        value = bt_field_integer_signed_get_value(field);
        *ret_value = (uint64_t)value;
        return value >= 0 && (uint64_t)value <= max;
}

/*
 * Writes array elements, little-endian, to the scratch. False: an element does not fit into SIZE
 * bytes.
 */
static bool plain_read_array(PlainSource *plain, Member member, const bt_field *field,
                             uint64_t count, unsigned size, bool is_signed, Value *ret_value)
{
        uint8_t *out;
        uint64_t i;
        unsigned j;

        if (bt_field_array_get_length(field) != count || count > UINT32_MAX)
                return false;
        out = decode_scratch_take(plain->scratch, count * size);
        ret_value->data = out;
        ret_value->n = (uint32_t)count;
        for (i = 0; i < count; i++) {
                const bt_field *element =
                        bt_field_array_borrow_element_field_by_index_const(field, i);
                int64_t min = is_signed ? -(INT64_C(1) << (8 * size - 1)) : 0;
                uint64_t value, max = UINT64_MAX >> (64 - 8 * size);

                if (member.kind == MEMBER_UNSIGNED_ARRAY) {
                        value = bt_field_integer_unsigned_get_value(element);
                        if (value > max)
                                return false;
                } else {
                        int64_t number = bt_field_integer_signed_get_value(element);

                        if (number < min || (number > 0 && (uint64_t)number > max))
                                return false;
                        value = (uint64_t)number;
                }
                for (j = 0; j < size; j++)
                        *out++ = (uint8_t)(value >> 8 * j);
        }
        return true;
}

static DecodeResult plain_read(Source *source, unsigned index, FieldType type, uint32_t count,
                               Value *ret_value)
{
        PlainSource *plain = (PlainSource *)source;
        Member member = plain->layout->fields[index];
        const bt_field *field = member_field(member, plain->payload);
        bool is_ok = true;
        uint64_t length;

        switch (type) {
        case FIELD_TYPE_U8:
                is_ok = plain_read_number(member, field, UINT8_MAX, &ret_value->u);
                break;
        case FIELD_TYPE_U16:
                is_ok = plain_read_number(member, field, UINT16_MAX, &ret_value->u);
                break;
        case FIELD_TYPE_U32:
                is_ok = plain_read_number(member, field, UINT32_MAX, &ret_value->u);
                break;
        case FIELD_TYPE_U64:
                is_ok = plain_read_number(member, field, UINT64_MAX, &ret_value->u);
                break;
        case FIELD_TYPE_BOOL:
                if (member.kind == MEMBER_BOOL)
                        ret_value->u = bt_field_bool_get_value(field) != BT_FALSE;
                else if (member.kind == MEMBER_UNSIGNED)
                        ret_value->u = bt_field_integer_unsigned_get_value(field) != 0;
                else
                        ret_value->u = bt_field_integer_signed_get_value(field) != 0;
                break;
        case FIELD_TYPE_WSTRING:
        case FIELD_TYPE_ASTRING:
                /*
                 * In babeltrace2 2.0.4, an empty string keeps the previous event's text: only the
                 * length is right.
                 */
                length = bt_field_string_get_length(field);
                if (length > UINT32_MAX / 3)
                        return DECODE_MISMATCH;
                ret_value->data = plain->scratch->bytes + plain->scratch->n_bytes;
                ret_value->n = (uint32_t)utf8_make_valid(
                        (const uint8_t *)bt_field_string_get_value(field), length,
                        plain->scratch->bytes + plain->scratch->n_bytes);
                plain->scratch->n_bytes += ret_value->n;
                break;
        case FIELD_TYPE_GUID:
                if (member.kind == MEMBER_STRING) {
                        uint8_t *guid = decode_scratch_take(plain->scratch, GUID_SIZE);

                        is_ok = guid_from_text(bt_field_string_get_value(field),
                                               bt_field_string_get_length(field), guid);
                        ret_value->data = guid;
                        ret_value->n = GUID_SIZE;
                        break;
                }
                is_ok = plain_read_array(plain, member, field, GUID_SIZE, 1, true, ret_value);
                break;
        case FIELD_TYPE_IL_OFFSETS:
                is_ok = plain_read_array(plain, member, field, count, 4, true, ret_value);
                break;
        case FIELD_TYPE_U64_ARRAY:
        case FIELD_TYPE_U32_ARRAY:
        case FIELD_TYPE_U8_ARRAY:
                is_ok = plain_read_array(plain, member, field, count, field_type_element_size(type),
                                         false, ret_value);
                break;
        case FIELD_TYPE_TYPE_LIST:
                is_ok = plain_read_array(plain, member, field, bt_field_array_get_length(field), 1,
                                         true, ret_value) &&
                        type_list_size(ret_value->data, ret_value->n, count) == ret_value->n;
                break;
        case _FIELD_TYPE_MAX:
                g_assert_not_reached();
        }
        return is_ok ? DECODE_OK : DECODE_MISMATCH;
}

static DecodeResult plain_finish(Source *source)
{
        return DECODE_OK;
}

/* Maximum of scratch that the values of a plain event need. */
static size_t plain_size(const Layout *layout, const bt_field *payload)
{
        size_t size = 0;
        unsigned i;

        for (i = 0; i < layout->event->n_fields; i++) {
                Member member = layout->fields[i];

                if (member.kind == MEMBER_STRING)
                        size += 3 * bt_field_string_get_length(member_field(member, payload));
                else if (member.kind == MEMBER_UNSIGNED_ARRAY || member.kind == MEMBER_SIGNED_ARRAY)
                        size += 8 * bt_field_array_get_length(member_field(member, payload));
        }
        return size;
}

static DecodeResult bt_decoder_decode_plain(BtDecoder *decoder, const Layout *layout,
                                            const bt_field *payload, Record *record)
{
        PlainSource plain = {
                .source = {.read = plain_read, .finish = plain_finish},
                .layout = layout,
                .payload = payload,
                .scratch = &decoder->scratch,
        };

        decode_scratch_reserve(&decoder->scratch, plain_size(layout, payload));
        return decode_record(layout->event, &plain.source, record);
}

static DecodeResult bt_decoder_decode_packed(BtDecoder *decoder, const Layout *layout,
                                             const bt_field *payload, Record *record)
{
        const bt_field *data = member_field(layout->data, payload);
        uint64_t i, n = bt_field_array_get_length(data);
        int64_t length;
        uint8_t *blob;

        if (!member_read_integer(layout->length, payload, &length) || (uint64_t)length != n)
                return DECODE_MISMATCH;
        if (n > decoder->n_blob_allocated) {
                g_free(decoder->blob);
                decoder->n_blob_allocated = MAX(n, 2 * decoder->n_blob_allocated);
                decoder->blob = g_malloc(decoder->n_blob_allocated);
        }

        /* The plugin's most expensive loop: babeltrace2 needs two calls for each byte. */
        blob = decoder->blob;
        if (layout->data.kind == MEMBER_SIGNED_ARRAY)
                for (i = 0; i < n; i++)
                        blob[i] = (uint8_t)bt_field_integer_signed_get_value(
                                bt_field_array_borrow_element_field_by_index_const(data, i));
        else
                for (i = 0; i < n; i++)
                        blob[i] = (uint8_t)bt_field_integer_unsigned_get_value(
                                bt_field_array_borrow_element_field_by_index_const(data, i));

        return packed_decode(layout->event, layout->is_later, blob, n, &decoder->scratch, record);
}

DecodeResult bt_decoder_decode(BtDecoder *decoder, const Layout *layout, const bt_field *payload,
                               Record *record)
{
        decode_scratch_reset(&decoder->scratch);
        switch (layout->encoding) {
        case ENCODING_PLAIN:
                return bt_decoder_decode_plain(decoder, layout, payload, record);
        case ENCODING_PACKED:
                return bt_decoder_decode_packed(decoder, layout, payload, record);
        case ENCODING_MISMATCH:
                break;
        }
        return DECODE_MISMATCH;
}
