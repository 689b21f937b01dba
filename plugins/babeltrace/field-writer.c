/* SPDX-License-Identifier: MIT */
#include "field-writer.h"

#include "field-classes.h"
#include "util/bytes.h"
#include "util/guid-text.h"

#include <string.h>

static const uint8_t *writer_byte(const FieldWriter *writer)
{
        return writer->window + (writer->at / 8 - writer->window_begin);
}

static bool writer_has(const FieldWriter *writer, uint64_t n_bits)
{
        return writer->at <= writer->end && writer->end - writer->at >= n_bits;
}

static bool writer_align(FieldWriter *writer, unsigned align)
{
        uint64_t n = -writer->at & (align - 1);

        if (!writer_has(writer, n))
                return false;
        writer->at += n;
        return true;
}

static bool field_writer_text(bt_field *field, const uint8_t *bytes, size_t n)
{
        bt_field_string_clear(field);
        return bt_field_string_append_with_length(field, (const char *)bytes, n) ==
               BT_FIELD_STRING_APPEND_STATUS_OK;
}

static void write_number(const CtfClass *class, bt_field *field, uint64_t value)
{
        float single;
        double number;

        if (class->bits == CTF_BITS_BOOLEAN) {
                bt_field_bool_set_value(field, value != 0);
        } else if (class->bits == CTF_BITS_ARRAY) {
                bt_field_bit_array_set_value_as_integer(field, value);
        } else if (class->kind == CTF_KIND_INTEGER) {
                if (class->is_signed)
                        bt_field_integer_signed_set_value(field, (int64_t)value);
                else
                        bt_field_integer_unsigned_set_value(field, value);
        } else if (class->size == 32) {
                uint32_t bits = (uint32_t)value;

                memcpy(&single, &bits, sizeof(single));
                bt_field_real_single_precision_set_value(field, single);
        } else {
                memcpy(&number, &value, sizeof(number));
                bt_field_real_double_precision_set_value(field, number);
        }
}

static bool writer_number(FieldWriter *writer, const CtfClass *class, bt_field *field)
{
        uint64_t value;

        if (!writer_has(writer, class->size))
                return false;
        value = ctf_read_integer(writer_byte(writer), writer->at % 8, class->size,
                                 class->is_big_endian);
        if (class->is_signed && class->size < 64 && value >> (class->size - 1))
                value |= UINT64_MAX << class->size;
        /* An element of an array can be a length or selector, too. */
        if (class->slot != UINT32_MAX)
                writer->slots[class->slot].value = value;
        writer->at += class->size;
        if (field)
                write_number(class, field, value);
        return true;
}

static bool writer_string(FieldWriter *writer, bt_field *field)
{
        const uint8_t *begin, *end;

        if (!writer_align(writer, 8) || !writer_has(writer, 8))
                return false;
        begin = writer_byte(writer);
        end = memchr(begin, 0, (writer->end - writer->at) / 8);
        if (!end)
                return false;
        writer->at += 8 * (uint64_t)(end + 1 - begin);
        return !field || field_writer_text(field, begin, (size_t)(end - begin));
}

static bool writer_text_array(FieldWriter *writer, uint64_t n, bt_field *field)
{
        const uint8_t *begin, *end;

        if (!writer_align(writer, 8) || n > UINT64_MAX / 8 || !writer_has(writer, 8 * n))
                return false;
        begin = writer_byte(writer);
        end = n ? memchr(begin, 0, n) : NULL;
        writer->at += 8 * n;
        return !field || field_writer_text(field, begin, end ? (size_t)(end - begin) : n);
}

static bool writer_array(FieldWriter *writer, const CtfClass *class, bt_field *field)
{
        const CtfClass *element = class->element;
        uint64_t i, n = class->kind == CTF_KIND_ARRAY ? class->length
                                                      : writer->slots[class->reference->slot].value;

        if (ctf_class_is_text(class))
                return writer_text_array(writer, n, field);
        if (n > FIELD_CLASSES_MAX || writer->n_elements + n > FIELD_CLASSES_MAX)
                return false;
        writer->n_elements += n;
        if (!writer_align(writer, class->align))
                return false;
        if (field && class->kind == CTF_KIND_SEQUENCE &&
            bt_field_array_dynamic_set_length(field, n) !=
                    BT_FIELD_DYNAMIC_ARRAY_SET_LENGTH_STATUS_OK)
                return false;
        if (element->kind == CTF_KIND_INTEGER || element->kind == CTF_KIND_FLOAT) {
                for (i = 0; i < n; i++)
                        if (!writer_align(writer, element->align) ||
                            !writer_number(
                                    writer, element,
                                    field ? bt_field_array_borrow_element_field_by_index(field, i)
                                          : NULL))
                                return false;
                return true;
        }
        for (i = 0; i < n; i++)
                if (!field_writer_write(
                            writer, element,
                            field ? bt_field_array_borrow_element_field_by_index(field, i) : NULL))
                        return false;
        return true;
}

static bool writer_structure(FieldWriter *writer, const CtfClass *class, bt_field *field)
{
        uint64_t i_field = 0;
        guint i;

        if (!writer_align(writer, class->align))
                return false;
        for (i = 0; i < class->members->len; i++) {
                const CtfClass *member = g_array_index(class->members, CtfMember, i).class;
                bt_field *own = NULL;

                if (field && field_class_is_shown(member))
                        own = bt_field_structure_borrow_member_field_by_index(field, i_field++);
                if (!field_writer_write(writer, member, own))
                        return false;
        }
        return true;
}

static bool range_has(const CtfRange *range, uint64_t value, bool is_signed)
{
        return is_signed ? (int64_t)value >= (int64_t)range->low &&
                                   (int64_t)value <= (int64_t)range->high
                         : value >= range->low && value <= range->high;
}

static bool writer_variant(FieldWriter *writer, const CtfClass *class, bt_field *field)
{
        const CtfClass *selector = class->reference;
        uint64_t value = writer->slots[selector->slot].value;
        guint i, k;

        for (i = 0; i < class->members->len; i++) {
                const CtfMember *option = &g_array_index(class->members, CtfMember, i);

                for (k = 0; k < option->ranges->len; k++) {
                        if (!range_has(&g_array_index(option->ranges, CtfRange, k), value,
                                       selector->is_signed))
                                continue;
                        if (!field)
                                return field_writer_write(writer, option->class, NULL);
                        return bt_field_variant_select_option_by_index(field, i) ==
                                       BT_FIELD_VARIANT_SELECT_OPTION_STATUS_OK &&
                               field_writer_write(
                                       writer, option->class,
                                       bt_field_variant_borrow_selected_option_field(field));
                }
        }
        return false;
}

bool field_writer_write(FieldWriter *writer, const CtfClass *class, bt_field *field)
{
        switch (class->kind) {
        case CTF_KIND_INTEGER:
        case CTF_KIND_FLOAT:
                return writer_align(writer, class->align) && writer_number(writer, class, field);
        case CTF_KIND_STRING:
                return writer_string(writer, field);
        case CTF_KIND_STRUCTURE:
                return writer_structure(writer, class, field);
        case CTF_KIND_ARRAY:
        case CTF_KIND_SEQUENCE:
                return writer_array(writer, class, field);
        case CTF_KIND_VARIANT:
                return writer_variant(writer, class, field);
        case _CTF_KIND_MAX:
                break;
        }
        return false;
}

bool kept_write(const CtfClass *class, const CtfSlot *slots, bt_field *field)
{
        const guint n = class->members->len;
        guint i;

        for (i = 0; i < n; i++) {
                const CtfClass *member = g_array_index(class->members, CtfMember, i).class;
                bt_field *own = bt_field_structure_borrow_member_field_by_index(field, i);
                const CtfSlot *slot = &slots[member->slot];

                if (member->kind == CTF_KIND_INTEGER)
                        write_number(member, own, slot->value);
                else if (!field_writer_text(own, slot->data,
                                            strnlen((const char *)slot->data, slot->n)))
                        return false;
        }
        return true;
}

static bool write_array(FieldType type, const Value *value, bt_field *field)
{
        unsigned size = MAX(field_type_element_size(type), 1);
        uint32_t i;

        if (bt_field_array_dynamic_set_length(field, value->n) !=
            BT_FIELD_DYNAMIC_ARRAY_SET_LENGTH_STATUS_OK)
                return false;
        for (i = 0; i < value->n; i++) {
                bt_field *element = bt_field_array_borrow_element_field_by_index(field, i);
                uint64_t number = bytes_number(value->data + (size_t)i * size, size);

                if (type == FIELD_TYPE_IL_OFFSETS)
                        bt_field_integer_signed_set_value(element, (int32_t)number);
                else
                        bt_field_integer_unsigned_set_value(element, number);
        }
        return true;
}

bool record_write(const Record *record, bt_field *payload)
{
        const Event *event = record->event;
        bool is_ok = true;
        unsigned i;

        for (i = 0; is_ok && i < event->n_fields; i++) {
                const Value *value = &record->values[i];
                bt_field *field = bt_field_structure_borrow_member_field_by_index(payload, i);
                char guid[GUID_TEXT_SIZE];

                switch (event->fields[i].type) {
                case FIELD_TYPE_U8:
                case FIELD_TYPE_U16:
                case FIELD_TYPE_U32:
                case FIELD_TYPE_U64:
                        bt_field_integer_unsigned_set_value(field, value->u);
                        break;
                case FIELD_TYPE_BOOL:
                        bt_field_bool_set_value(field, value->u != 0);
                        break;
                case FIELD_TYPE_GUID:
                        guid_to_text(value->data, guid);
                        is_ok = field_writer_text(field, (const uint8_t *)guid, GUID_TEXT_SIZE - 1);
                        break;
                case FIELD_TYPE_WSTRING:
                case FIELD_TYPE_ASTRING:
                        is_ok = field_writer_text(field, value->data, value->n);
                        break;
                case FIELD_TYPE_U64_ARRAY:
                case FIELD_TYPE_IL_OFFSETS:
                case FIELD_TYPE_U32_ARRAY:
                case FIELD_TYPE_U8_ARRAY:
                case FIELD_TYPE_TYPE_LIST:
                        is_ok = write_array(event->fields[i].type, value, field);
                        break;
                case _FIELD_TYPE_MAX:
                        g_assert_not_reached();
                }
        }
        return is_ok;
}
