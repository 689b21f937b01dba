/* SPDX-License-Identifier: MIT */
#include "field-copy.h"

#include <string.h>

static bool field_copy_structure(const bt_field *original, bt_field *copy)
{
        const uint64_t n =
                bt_field_class_structure_get_member_count(bt_field_borrow_class_const(original));
        uint64_t i;

        for (i = 0; i < n; i++)
                if (!field_copy(bt_field_structure_borrow_member_field_by_index_const(original, i),
                                bt_field_structure_borrow_member_field_by_index(copy, i)))
                        return false;
        return true;
}

static bool field_copy_array(const bt_field *original, bt_field *copy, bool is_dynamic)
{
        const uint64_t n = bt_field_array_get_length(original);
        uint64_t i;

        if (is_dynamic && bt_field_array_dynamic_set_length(copy, n) !=
                                  BT_FIELD_DYNAMIC_ARRAY_SET_LENGTH_STATUS_OK)
                return false;
        for (i = 0; i < n; i++)
                if (!field_copy(bt_field_array_borrow_element_field_by_index_const(original, i),
                                bt_field_array_borrow_element_field_by_index(copy, i)))
                        return false;
        return true;
}

static bool field_copy_option(const bt_field *original, bt_field *copy)
{
        const bt_field *content = bt_field_option_borrow_field_const(original);

        bt_field_option_set_has_field(copy, content != NULL);
        return !content || field_copy(content, bt_field_option_borrow_field(copy));
}

static bool field_copy_variant(const bt_field *original, bt_field *copy)
{
        return bt_field_variant_select_option_by_index(
                       copy, bt_field_variant_get_selected_option_index(original)) ==
                       BT_FIELD_VARIANT_SELECT_OPTION_STATUS_OK &&
               field_copy(bt_field_variant_borrow_selected_option_field_const(original),
                          bt_field_variant_borrow_selected_option_field(copy));
}

#ifdef HAVE_MIP_1
static bool field_copy_blob(const bt_field *original, bt_field *copy, bool is_dynamic)
{
        const uint64_t n = bt_field_blob_get_length(original);

        if (is_dynamic &&
            bt_field_blob_dynamic_set_length(copy, n) != BT_FIELD_DYNAMIC_BLOB_SET_LENGTH_STATUS_OK)
                return false;
        if (n)
                memcpy(bt_field_blob_get_data(copy), bt_field_blob_get_data_const(original), n);
        return true;
}
#endif

bool field_copy(const bt_field *original, bt_field *copy)
{
        const bt_field_class_type type = bt_field_get_class_type(original);

        switch (type) {
        case BT_FIELD_CLASS_TYPE_BOOL:
                bt_field_bool_set_value(copy, bt_field_bool_get_value(original));
                return true;
        case BT_FIELD_CLASS_TYPE_BIT_ARRAY:
                bt_field_bit_array_set_value_as_integer(
                        copy, bt_field_bit_array_get_value_as_integer(original));
                return true;
        case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
        case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
                bt_field_integer_unsigned_set_value(copy,
                                                    bt_field_integer_unsigned_get_value(original));
                return true;
        case BT_FIELD_CLASS_TYPE_SIGNED_INTEGER:
        case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION:
                bt_field_integer_signed_set_value(copy,
                                                  bt_field_integer_signed_get_value(original));
                return true;
        case BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL:
                bt_field_real_single_precision_set_value(
                        copy, bt_field_real_single_precision_get_value(original));
                return true;
        case BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL:
                bt_field_real_double_precision_set_value(
                        copy, bt_field_real_double_precision_get_value(original));
                return true;
        case BT_FIELD_CLASS_TYPE_STRING:
                bt_field_string_clear(copy);
                return bt_field_string_append_with_length(copy, bt_field_string_get_value(original),
                                                          bt_field_string_get_length(original)) ==
                       BT_FIELD_STRING_APPEND_STATUS_OK;
        case BT_FIELD_CLASS_TYPE_STRUCTURE:
                return field_copy_structure(original, copy);
        case BT_FIELD_CLASS_TYPE_STATIC_ARRAY:
                return field_copy_array(original, copy, /* is_dynamic= */ false);
        case BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITHOUT_LENGTH_FIELD:
        case BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD:
                return field_copy_array(original, copy, /* is_dynamic= */ true);
#ifdef HAVE_MIP_1
        case BT_FIELD_CLASS_TYPE_STATIC_BLOB:
                return field_copy_blob(original, copy, /* is_dynamic= */ false);
        case BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB_WITHOUT_LENGTH_FIELD:
        case BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB_WITH_LENGTH_FIELD:
                return field_copy_blob(original, copy, /* is_dynamic= */ true);
#endif
        default:
                if (bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_OPTION))
                        return field_copy_option(original, copy);
                return field_copy_variant(original, copy);
        }
}
