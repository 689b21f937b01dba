/* SPDX-License-Identifier: MIT */
#include "class-copy.h"

G_STATIC_ASSERT(BT_FIELD_PATH_SCOPE_PACKET_CONTEXT == 0);
G_STATIC_ASSERT(BT_FIELD_PATH_SCOPE_EVENT_PAYLOAD == N_SCOPES - 1);

/* The link from a field to its length or selector. */
typedef struct Link {
        bt_field_class *class; /* borrowed; MIP 0: copy of the length or selector */
#ifdef HAVE_MIP_1
        const bt_field_location *location; /* owned; MIP 1: its location */
#endif
} Link;

static const bt_field_class *class_at_index(const bt_field_class *class, uint64_t index)
{
        if (bt_field_class_get_type(class) == BT_FIELD_CLASS_TYPE_STRUCTURE)
                return bt_field_class_structure_member_borrow_field_class_const(
                        bt_field_class_structure_borrow_member_by_index_const(class, index));
        return bt_field_class_variant_option_borrow_field_class_const(
                bt_field_class_variant_borrow_option_by_index_const(class, index));
}

/* False: the class was not copied. */
static bool copier_follow_path(const ClassCopier *copier, const bt_field_path *path, Link *ret)
{
        const bt_field_class *class = copier->roots[bt_field_path_get_root_scope(path)];
        uint64_t i;

        for (i = 0; class && i < bt_field_path_get_item_count(path); i++) {
                const bt_field_path_item *item = bt_field_path_borrow_item_by_index_const(path, i);

                switch (bt_field_path_item_get_type(item)) {
                case BT_FIELD_PATH_ITEM_TYPE_INDEX:
                        class = class_at_index(class, bt_field_path_item_index_get_index(item));
                        break;
                case BT_FIELD_PATH_ITEM_TYPE_CURRENT_ARRAY_ELEMENT:
                        class = bt_field_class_array_borrow_element_field_class_const(class);
                        break;
                case BT_FIELD_PATH_ITEM_TYPE_CURRENT_OPTION_CONTENT:
                        class = bt_field_class_option_borrow_field_class_const(class);
                        break;
                }
        }
        ret->class = class ? g_hash_table_lookup(copier->selectors, class) : NULL;
        return ret->class != NULL;
}

#ifdef HAVE_MIP_1
static bool copier_copy_location(const ClassCopier *copier, const bt_field_location *original,
                                 Link *ret)
{
        const uint64_t n = bt_field_location_get_item_count(original);
        g_autofree const char **items = g_new(const char *, n);
        uint64_t i;

        for (i = 0; i < n; i++)
                items[i] = bt_field_location_get_item_by_index(original, i);
        ret->location = bt_field_location_create(
                copier->trace_class, bt_field_location_get_root_scope(original), items, n);
        return ret->location != NULL;
}
#endif

static void link_deinit(Link *link)
{
#ifdef HAVE_MIP_1
        if (link->location)
                bt_field_location_put_ref(link->location);
#endif
        *link = (Link){0};
}

static bool copier_link_length(const ClassCopier *copier, const bt_field_class *array, Link *ret)
{
#ifdef HAVE_MIP_1
        if (copier->mip > 0)
                return copier_copy_location(
                        copier,
                        bt_field_class_array_dynamic_with_length_field_borrow_length_field_location_const(
                                array),
                        ret);
#endif
        return copier_follow_path(
                copier,
                bt_field_class_array_dynamic_with_length_field_borrow_length_field_path_const(
                        array),
                ret);
}

static bool copier_link_option(const ClassCopier *copier, const bt_field_class *option, Link *ret)
{
#ifdef HAVE_MIP_1
        if (copier->mip > 0)
                return copier_copy_location(
                        copier,
                        bt_field_class_option_with_selector_field_borrow_selector_field_location_const(
                                option),
                        ret);
#endif
        return copier_follow_path(
                copier,
                bt_field_class_option_with_selector_field_borrow_selector_field_path_const(option),
                ret);
}

static bool copier_link_variant(const ClassCopier *copier, const bt_field_class *variant, Link *ret)
{
#ifdef HAVE_MIP_1
        if (copier->mip > 0)
                return copier_copy_location(
                        copier,
                        bt_field_class_variant_with_selector_field_borrow_selector_field_location_const(
                                variant),
                        ret);
#endif
        return copier_follow_path(
                copier,
                bt_field_class_variant_with_selector_field_borrow_selector_field_path_const(
                        variant),
                ret);
}

/* Copies properties of integers and enumerations. */
static bt_field_class *integer_finish(const bt_field_class *original, bt_field_class *copy)
{
        if (!copy)
                return NULL;
        bt_field_class_integer_set_field_value_range(
                copy, bt_field_class_integer_get_field_value_range(original));
        bt_field_class_integer_set_preferred_display_base(
                copy, bt_field_class_integer_get_preferred_display_base(original));
#ifdef HAVE_MIP_1
        if (bt_field_class_get_graph_mip_version(original) > 0)
                bt_field_class_integer_set_field_value_hints(
                        copy, bt_field_class_integer_get_field_value_hints(original));
#endif
        return copy;
}

static bool enumeration_copy_unsigned(const bt_field_class *original, bt_field_class *copy,
                                      uint64_t i)
{
        const bt_field_class_enumeration_unsigned_mapping *mapping =
                bt_field_class_enumeration_unsigned_borrow_mapping_by_index_const(original, i);

        return bt_field_class_enumeration_unsigned_add_mapping(
                       copy,
                       bt_field_class_enumeration_mapping_get_label(
                               bt_field_class_enumeration_unsigned_mapping_as_mapping_const(
                                       mapping)),
                       bt_field_class_enumeration_unsigned_mapping_borrow_ranges_const(mapping)) ==
               BT_FIELD_CLASS_ENUMERATION_ADD_MAPPING_STATUS_OK;
}

static bool enumeration_copy_signed(const bt_field_class *original, bt_field_class *copy,
                                    uint64_t i)
{
        const bt_field_class_enumeration_signed_mapping *mapping =
                bt_field_class_enumeration_signed_borrow_mapping_by_index_const(original, i);

        return bt_field_class_enumeration_signed_add_mapping(
                       copy,
                       bt_field_class_enumeration_mapping_get_label(
                               bt_field_class_enumeration_signed_mapping_as_mapping_const(mapping)),
                       bt_field_class_enumeration_signed_mapping_borrow_ranges_const(mapping)) ==
               BT_FIELD_CLASS_ENUMERATION_ADD_MAPPING_STATUS_OK;
}

static bt_field_class *copier_enumeration(ClassCopier *copier, const bt_field_class *original,
                                          bool is_signed)
{
        bt_field_class *copy =
                is_signed ? bt_field_class_enumeration_signed_create(copier->trace_class)
                          : bt_field_class_enumeration_unsigned_create(copier->trace_class);
        uint64_t i;

        for (i = 0; copy && i < bt_field_class_enumeration_get_mapping_count(original); i++) {
                if (is_signed ? enumeration_copy_signed(original, copy, i)
                              : enumeration_copy_unsigned(original, copy, i))
                        continue;
                bt_field_class_put_ref(copy);
                copy = NULL;
        }
        return integer_finish(original, copy);
}

static bt_field_class *copier_bit_array(ClassCopier *copier, const bt_field_class *original)
{
        bt_field_class *copy = bt_field_class_bit_array_create(
                copier->trace_class, bt_field_class_bit_array_get_length(original));
#ifdef HAVE_MIP_1
        uint64_t i,
                n = copy && copier->mip > 0 ? bt_field_class_bit_array_get_flag_count(original) : 0;

        for (i = 0; i < n; i++) {
                const bt_field_class_bit_array_flag *flag =
                        bt_field_class_bit_array_borrow_flag_by_index_const(original, i);

                (void)bt_field_class_bit_array_add_flag(
                        copy, bt_field_class_bit_array_flag_get_label(flag),
                        bt_field_class_bit_array_flag_borrow_index_ranges_const(flag));
        }
#endif
        return copy;
}

static bt_field_class *copier_structure(ClassCopier *copier, const bt_field_class *original)
{
        bt_field_class *copy = bt_field_class_structure_create(copier->trace_class);
        uint64_t i;

        for (i = 0; copy && i < bt_field_class_structure_get_member_count(original); i++) {
                const bt_field_class_structure_member *member =
                        bt_field_class_structure_borrow_member_by_index_const(original, i);
                bt_field_class *field = class_copier_copy(
                        copier, bt_field_class_structure_member_borrow_field_class_const(member));

                if (!field || bt_field_class_structure_append_member(
                                      copy, bt_field_class_structure_member_get_name(member),
                                      field) != BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK) {
                        bt_field_class_put_ref(copy);
                        copy = NULL;
                } else {
                        bt_field_class_structure_member_set_user_attributes(
                                bt_field_class_structure_borrow_member_by_index(copy, i),
                                bt_field_class_structure_member_borrow_user_attributes_const(
                                        member));
                }
                bt_field_class_put_ref(field);
        }
        return copy;
}

static bt_field_class *copier_dynamic_array(ClassCopier *copier, bt_field_class *element,
                                            const Link *length)
{
#ifdef HAVE_MIP_1
        if (copier->mip > 0)
                return length ? bt_field_class_array_dynamic_with_length_field_location_create(
                                        copier->trace_class, element, length->location)
                              : bt_field_class_array_dynamic_without_length_field_location_create(
                                        copier->trace_class, element);
#endif
        return bt_field_class_array_dynamic_create(copier->trace_class, element,
                                                   length ? length->class : NULL);
}

static bt_field_class *copier_array(ClassCopier *copier, const bt_field_class *original)
{
        const bt_field_class_type type = bt_field_class_get_type(original);
        bt_field_class *element = class_copier_copy(
                copier, bt_field_class_array_borrow_element_field_class_const(original));
        bt_field_class *copy = NULL;
        Link length = {0};

        if (!element)
                return NULL;
        if (type == BT_FIELD_CLASS_TYPE_STATIC_ARRAY)
                copy = bt_field_class_array_static_create(
                        copier->trace_class, element,
                        bt_field_class_array_static_get_length(original));
        else if (type == BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITHOUT_LENGTH_FIELD)
                copy = copier_dynamic_array(copier, element, NULL);
        else if (copier_link_length(copier, original, &length))
                copy = copier_dynamic_array(copier, element, &length);
        link_deinit(&length);
        bt_field_class_put_ref(element);
        return copy;
}

typedef bt_field_class *(*OptionNew)(ClassCopier *copier, const bt_field_class *original,
                                     bt_field_class *content, const Link *selector);

static bt_field_class *option_new_plain(ClassCopier *copier, const bt_field_class *original,
                                        bt_field_class *content, const Link *selector)
{
#ifdef HAVE_MIP_1
        if (copier->mip > 0)
                return bt_field_class_option_without_selector_field_location_create(
                        copier->trace_class, content);
#endif
        return bt_field_class_option_without_selector_create(copier->trace_class, content);
}

static bt_field_class *option_new_bool(ClassCopier *copier, const bt_field_class *original,
                                       bt_field_class *content, const Link *selector)
{
        bt_field_class *copy;

#ifdef HAVE_MIP_1
        if (copier->mip > 0)
                copy = bt_field_class_option_with_selector_field_location_bool_create(
                        copier->trace_class, content, selector->location);
        else
#endif
                copy = bt_field_class_option_with_selector_field_bool_create(
                        copier->trace_class, content, selector->class);
        if (copy)
                bt_field_class_option_with_selector_field_bool_set_selector_is_reversed(
                        copy, bt_field_class_option_with_selector_field_bool_selector_is_reversed(
                                      original));
        return copy;
}

static bt_field_class *option_new_unsigned(ClassCopier *copier, const bt_field_class *original,
                                           bt_field_class *content, const Link *selector)
{
        const bt_integer_range_set_unsigned *ranges =
                bt_field_class_option_with_selector_field_integer_unsigned_borrow_selector_ranges_const(
                        original);

#ifdef HAVE_MIP_1
        if (copier->mip > 0)
                return bt_field_class_option_with_selector_field_location_integer_unsigned_create(
                        copier->trace_class, content, selector->location, ranges);
#endif
        return bt_field_class_option_with_selector_field_integer_unsigned_create(
                copier->trace_class, content, selector->class, ranges);
}

static bt_field_class *option_new_signed(ClassCopier *copier, const bt_field_class *original,
                                         bt_field_class *content, const Link *selector)
{
        const bt_integer_range_set_signed *ranges =
                bt_field_class_option_with_selector_field_integer_signed_borrow_selector_ranges_const(
                        original);

#ifdef HAVE_MIP_1
        if (copier->mip > 0)
                return bt_field_class_option_with_selector_field_location_integer_signed_create(
                        copier->trace_class, content, selector->location, ranges);
#endif
        return bt_field_class_option_with_selector_field_integer_signed_create(
                copier->trace_class, content, selector->class, ranges);
}

static bt_field_class *copier_option(ClassCopier *copier, const bt_field_class *original,
                                     OptionNew option_new)
{
        bt_field_class *content =
                class_copier_copy(copier, bt_field_class_option_borrow_field_class_const(original));
        bt_field_class *copy = NULL;
        Link selector = {0};

        if (content &&
            (option_new == option_new_plain || copier_link_option(copier, original, &selector)))
                copy = option_new(copier, original, content, &selector);
        link_deinit(&selector);
        bt_field_class_put_ref(content);
        return copy;
}

static bt_field_class *copier_variant_new(ClassCopier *copier, const bt_field_class *original,
                                          bt_field_class_type type)
{
        const bool has_selector = type != BT_FIELD_CLASS_TYPE_VARIANT_WITHOUT_SELECTOR_FIELD;
        bt_field_class *copy = NULL;
        Link selector = {0};

        if (has_selector && !copier_link_variant(copier, original, &selector))
                return NULL;
#ifdef HAVE_MIP_1
        if (copier->mip > 0) {
                if (!has_selector)
                        copy = bt_field_class_variant_without_selector_field_location_create(
                                copier->trace_class);
                else if (type == BT_FIELD_CLASS_TYPE_VARIANT_WITH_SIGNED_INTEGER_SELECTOR_FIELD)
                        copy = bt_field_class_variant_with_selector_field_location_integer_signed_create(
                                copier->trace_class, selector.location);
                else
                        copy = bt_field_class_variant_with_selector_field_location_integer_unsigned_create(
                                copier->trace_class, selector.location);
                link_deinit(&selector);
                return copy;
        }
#endif
        copy = bt_field_class_variant_create(copier->trace_class, selector.class);
        link_deinit(&selector);
        return copy;
}

/* Appends option I of ORIGINAL with the class CONTENT. */
static bool variant_append(const bt_field_class *original, bt_field_class *copy,
                           bt_field_class *content, uint64_t i)
{
        const char *name = bt_field_class_variant_option_get_name(
                bt_field_class_variant_borrow_option_by_index_const(original, i));

        switch (bt_field_class_get_type(original)) {
        case BT_FIELD_CLASS_TYPE_VARIANT_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
                return bt_field_class_variant_with_selector_field_integer_unsigned_append_option(
                               copy, name, content,
                               bt_field_class_variant_with_selector_field_integer_unsigned_option_borrow_ranges_const(
                                       bt_field_class_variant_with_selector_field_integer_unsigned_borrow_option_by_index_const(
                                               original, i))) ==
                       BT_FIELD_CLASS_VARIANT_WITH_SELECTOR_FIELD_APPEND_OPTION_STATUS_OK;
        case BT_FIELD_CLASS_TYPE_VARIANT_WITH_SIGNED_INTEGER_SELECTOR_FIELD:
                return bt_field_class_variant_with_selector_field_integer_signed_append_option(
                               copy, name, content,
                               bt_field_class_variant_with_selector_field_integer_signed_option_borrow_ranges_const(
                                       bt_field_class_variant_with_selector_field_integer_signed_borrow_option_by_index_const(
                                               original, i))) ==
                       BT_FIELD_CLASS_VARIANT_WITH_SELECTOR_FIELD_APPEND_OPTION_STATUS_OK;
        default:
                return bt_field_class_variant_without_selector_append_option(copy, name, content) ==
                       BT_FIELD_CLASS_VARIANT_WITHOUT_SELECTOR_FIELD_APPEND_OPTION_STATUS_OK;
        }
}

static bt_field_class *copier_variant(ClassCopier *copier, const bt_field_class *original)
{
        bt_field_class *copy =
                copier_variant_new(copier, original, bt_field_class_get_type(original));
        uint64_t i;

        for (i = 0; copy && i < bt_field_class_variant_get_option_count(original); i++) {
                const bt_field_class_variant_option *option =
                        bt_field_class_variant_borrow_option_by_index_const(original, i);
                bt_field_class *content = class_copier_copy(
                        copier, bt_field_class_variant_option_borrow_field_class_const(option));

                if (!content || !variant_append(original, copy, content, i)) {
                        bt_field_class_put_ref(copy);
                        copy = NULL;
                } else {
                        bt_field_class_variant_option_set_user_attributes(
                                bt_field_class_variant_borrow_option_by_index(copy, i),
                                bt_field_class_variant_option_borrow_user_attributes_const(option));
                }
                bt_field_class_put_ref(content);
        }
        return copy;
}

#ifdef HAVE_MIP_1
static bt_field_class *copier_blob(ClassCopier *copier, const bt_field_class *original)
{
        bt_field_class *copy = NULL;
        Link length = {0};

        if (bt_field_class_get_type(original) == BT_FIELD_CLASS_TYPE_STATIC_BLOB)
                copy = bt_field_class_blob_static_create(
                        copier->trace_class, bt_field_class_blob_static_get_length(original));
        else if (bt_field_class_get_type(original) ==
                 BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB_WITHOUT_LENGTH_FIELD)
                copy = bt_field_class_blob_dynamic_without_length_field_location_create(
                        copier->trace_class);
        else if (
                copier_copy_location(
                        copier,
                        bt_field_class_blob_dynamic_with_length_field_borrow_length_field_location_const(
                                original),
                        &length))
                copy = bt_field_class_blob_dynamic_with_length_field_location_create(
                        copier->trace_class, length.location);
        link_deinit(&length);
        if (copy)
                (void)bt_field_class_blob_set_media_type(
                        copy, bt_field_class_blob_get_media_type(original));
        return copy;
}
#endif

static bt_field_class *copier_class(ClassCopier *copier, const bt_field_class *original)
{
        bt_trace_class *trace_class = copier->trace_class;

        switch (bt_field_class_get_type(original)) {
        case BT_FIELD_CLASS_TYPE_BOOL:
                return bt_field_class_bool_create(trace_class);
        case BT_FIELD_CLASS_TYPE_BIT_ARRAY:
                return copier_bit_array(copier, original);
        case BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER:
                return integer_finish(original,
                                      bt_field_class_integer_unsigned_create(trace_class));
        case BT_FIELD_CLASS_TYPE_SIGNED_INTEGER:
                return integer_finish(original, bt_field_class_integer_signed_create(trace_class));
        case BT_FIELD_CLASS_TYPE_UNSIGNED_ENUMERATION:
                return copier_enumeration(copier, original, /* is_signed= */ false);
        case BT_FIELD_CLASS_TYPE_SIGNED_ENUMERATION:
                return copier_enumeration(copier, original, /* is_signed= */ true);
        case BT_FIELD_CLASS_TYPE_SINGLE_PRECISION_REAL:
                return bt_field_class_real_single_precision_create(trace_class);
        case BT_FIELD_CLASS_TYPE_DOUBLE_PRECISION_REAL:
                return bt_field_class_real_double_precision_create(trace_class);
        case BT_FIELD_CLASS_TYPE_STRING:
                return bt_field_class_string_create(trace_class);
        case BT_FIELD_CLASS_TYPE_STRUCTURE:
                return copier_structure(copier, original);
        case BT_FIELD_CLASS_TYPE_STATIC_ARRAY:
        case BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITHOUT_LENGTH_FIELD:
        case BT_FIELD_CLASS_TYPE_DYNAMIC_ARRAY_WITH_LENGTH_FIELD:
                return copier_array(copier, original);
        case BT_FIELD_CLASS_TYPE_OPTION_WITHOUT_SELECTOR_FIELD:
                return copier_option(copier, original, option_new_plain);
        case BT_FIELD_CLASS_TYPE_OPTION_WITH_BOOL_SELECTOR_FIELD:
                return copier_option(copier, original, option_new_bool);
        case BT_FIELD_CLASS_TYPE_OPTION_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
                return copier_option(copier, original, option_new_unsigned);
        case BT_FIELD_CLASS_TYPE_OPTION_WITH_SIGNED_INTEGER_SELECTOR_FIELD:
                return copier_option(copier, original, option_new_signed);
        case BT_FIELD_CLASS_TYPE_VARIANT_WITHOUT_SELECTOR_FIELD:
        case BT_FIELD_CLASS_TYPE_VARIANT_WITH_UNSIGNED_INTEGER_SELECTOR_FIELD:
        case BT_FIELD_CLASS_TYPE_VARIANT_WITH_SIGNED_INTEGER_SELECTOR_FIELD:
                return copier_variant(copier, original);
#ifdef HAVE_MIP_1
        case BT_FIELD_CLASS_TYPE_STATIC_BLOB:
        case BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB_WITHOUT_LENGTH_FIELD:
        case BT_FIELD_CLASS_TYPE_DYNAMIC_BLOB_WITH_LENGTH_FIELD:
                return copier_blob(copier, original);
#endif
        default:
                return NULL;
        }
}

/* MIP 0 identifies lengths and selectors by their class. */
static bool class_can_select(const bt_field_class *class)
{
        const bt_field_class_type type = bt_field_class_get_type(class);

        return type == BT_FIELD_CLASS_TYPE_BOOL ||
               bt_field_class_type_is(type, BT_FIELD_CLASS_TYPE_INTEGER);
}

bt_field_class *class_copier_copy(ClassCopier *copier, const bt_field_class *original)
{
        bt_field_class *copy = copier_class(copier, original);

        if (!copy)
                return NULL;
        if (class_can_select(original))
                g_hash_table_insert(copier->selectors, (void *)original, copy);
        bt_field_class_set_user_attributes(copy,
                                           bt_field_class_borrow_user_attributes_const(original));
        return copy;
}
