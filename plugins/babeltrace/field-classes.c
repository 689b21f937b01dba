/* SPDX-License-Identifier: MIT */
#include "field-classes.h"

#include "ctf/error.h"
#include "graph-mip.h"

#include <string.h>

/* Limit of an enumeration's labels, because babeltrace2 compares each new label with all others. */
#define MAX_LABELS 4096

enum {
        BASE_HEX = 16,
};

typedef struct FieldClassBuilder {
        uint64_t mip;
        bt_trace_class *trace_class; /* borrowed */
        CtfScope scope;
        const CtfClass *root;
        bt_field_class *structure; /* borrowed: the root's, in progress */
        uint64_t n_fields;
        GError **error;
} FieldClassBuilder;

static void *builder_fail(FieldClassBuilder *builder, CtfError code, const char *what,
                          const char *name)
{
        if (builder->error && !*builder->error)
                g_set_error(builder->error, CTF_ERROR, code, what, name);
        return NULL;
}

static bool has_shown_member(const CtfClass *class)
{
        guint i;

        for (i = 0; i < class->members->len; i++)
                if (field_class_is_shown(g_array_index(class->members, CtfMember, i).class))
                        return true;
        return class->members->len == 0;
}

bool field_class_is_shown(const CtfClass *class)
{
        switch (class->kind) {
        case CTF_KIND_INTEGER:
                /* A member with a slot is the length or selector of another field. */
                return class->role == CTF_ROLE_NONE || class->slot != UINT32_MAX;
        case CTF_KIND_STRUCTURE:
                return has_shown_member(class);
        case CTF_KIND_ARRAY:
                return class->role != CTF_ROLE_UUID;
        default:
                return true;
        }
}

static bt_field_class *builder_class(FieldClassBuilder *builder, const CtfClass *class,
                                     uint64_t factor);

/* Adds all ranges of one label at once: babeltrace2 accepts each label only once. */
static bool enumeration_add_signed(bt_field_class *out, const char *name, const GArray *ranges)
{
        bt_integer_range_set_signed *set = bt_integer_range_set_signed_create();
        bool is_ok = set != NULL;
        guint i;

        for (i = 0; is_ok && i < ranges->len; i++) {
                const CtfRange *range = &g_array_index(ranges, CtfRange, i);

                is_ok = bt_integer_range_set_signed_add_range(set, (int64_t)range->low,
                                                              (int64_t)range->high) ==
                        BT_INTEGER_RANGE_SET_ADD_RANGE_STATUS_OK;
        }
        is_ok = is_ok && bt_field_class_enumeration_signed_add_mapping(out, name, set) ==
                                 BT_FIELD_CLASS_ENUMERATION_ADD_MAPPING_STATUS_OK;
        bt_integer_range_set_signed_put_ref(set);
        return is_ok;
}

static bool enumeration_add_unsigned(bt_field_class *out, const char *name, const GArray *ranges)
{
        bt_integer_range_set_unsigned *set = bt_integer_range_set_unsigned_create();
        bool is_ok = set != NULL;
        guint i;

        for (i = 0; is_ok && i < ranges->len; i++) {
                const CtfRange *range = &g_array_index(ranges, CtfRange, i);

                is_ok = bt_integer_range_set_unsigned_add_range(set, range->low, range->high) ==
                        BT_INTEGER_RANGE_SET_ADD_RANGE_STATUS_OK;
        }
        is_ok = is_ok && bt_field_class_enumeration_unsigned_add_mapping(out, name, set) ==
                                 BT_FIELD_CLASS_ENUMERATION_ADD_MAPPING_STATUS_OK;
        bt_integer_range_set_unsigned_put_ref(set);
        return is_ok;
}

static bool range_is_valid(const CtfRange *range, bool is_signed)
{
        return is_signed ? (int64_t)range->low <= (int64_t)range->high : range->low <= range->high;
}

static bool builder_add_labels(FieldClassBuilder *builder, bt_field_class *out,
                               const CtfClass *class)
{
        g_autoptr(GHashTable) names =
                g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)g_array_unref);
        guint i;

        if (class->labels->len > MAX_LABELS)
                return builder_fail(builder, CTF_ERROR_UNSUPPORTED,
                                    "an enumeration has too many labels%s", "");
        for (i = 0; i < class->labels->len; i++) {
                const CtfLabel *label = &g_array_index(class->labels, CtfLabel, i);
                GArray *ranges = g_hash_table_lookup(names, label->name);

                if (!range_is_valid(&label->range, class->is_signed))
                        return builder_fail(builder, CTF_ERROR_DAMAGED,
                                            "label \"%s\": the range ends before it begins",
                                            label->name);
                if (!ranges) {
                        ranges = g_array_new(FALSE, FALSE, sizeof(CtfRange));
                        g_hash_table_insert(names, (void *)label->name, ranges);
                }
                g_array_append_val(ranges, label->range);
        }
        for (i = 0; i < class->labels->len; i++) {
                const char *name = g_array_index(class->labels, CtfLabel, i).name;
                const GArray *ranges = g_hash_table_lookup(names, name);

                if (!ranges)
                        continue;
                if (!(class->is_signed ? enumeration_add_signed(out, name, ranges)
                                       : enumeration_add_unsigned(out, name, ranges)))
                        return builder_fail(builder, CTF_ERROR_SYSTEM, "not enough memory%s", "");
                g_hash_table_remove(names, name);
        }
        return true;
}

static bt_field_class *builder_integer(FieldClassBuilder *builder, const CtfClass *class)
{
        bt_trace_class *trace_class = builder->trace_class;
        bt_field_class *out;

        if (class->labels)
                out = class->is_signed ? bt_field_class_enumeration_signed_create(trace_class)
                                       : bt_field_class_enumeration_unsigned_create(trace_class);
        else
                out = class->is_signed ? bt_field_class_integer_signed_create(trace_class)
                                       : bt_field_class_integer_unsigned_create(trace_class);
        bt_field_class_integer_set_field_value_range(out, class->size);
        switch (class->base) {
        case 2:
                bt_field_class_integer_set_preferred_display_base(
                        out, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_BINARY);
                break;
        case 8:
                bt_field_class_integer_set_preferred_display_base(
                        out, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_OCTAL);
                break;
        case BASE_HEX:
                bt_field_class_integer_set_preferred_display_base(
                        out, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
                break;
        default:
                break;
        }
        if (class->labels && !builder_add_labels(builder, out, class)) {
                bt_field_class_put_ref(out);
                return NULL;
        }
        return out;
}

static bt_field_class *builder_bits(FieldClassBuilder *builder, const CtfClass *class)
{
        switch (class->bits) {
        case CTF_BITS_NUMBER:
                return builder_integer(builder, class);
        case CTF_BITS_BOOLEAN:
                return bt_field_class_bool_create(builder->trace_class);
        case CTF_BITS_ARRAY:
                return bt_field_class_bit_array_create(builder->trace_class, class->size);
        case CTF_BITS_MAP:
                break;
        }
        return builder_fail(builder, CTF_ERROR_UNSUPPORTED, "bit maps%s", "");
}

static bt_field_class *builder_float(FieldClassBuilder *builder, const CtfClass *class)
{
        if (class->size == 32)
                return bt_field_class_real_single_precision_create(builder->trace_class);
        if (class->size == 64)
                return bt_field_class_real_double_precision_create(builder->trace_class);
        return builder_fail(builder, CTF_ERROR_UNSUPPORTED, "floats that have not 32 or 64 bits%s",
                            "");
}

/* Adds the members of a structure, or the options of a variant. */
static bool builder_add_members(FieldClassBuilder *builder, bt_field_class *out,
                                const CtfClass *class, uint64_t factor)
{
        g_autoptr(GHashTable) names = g_hash_table_new(g_str_hash, g_str_equal);
        guint i;

        for (i = 0; i < class->members->len; i++) {
                const CtfMember *member = &g_array_index(class->members, CtfMember, i);
                bt_field_class *field;
                bool is_ok;

                if (class->kind == CTF_KIND_STRUCTURE && !field_class_is_shown(member->class))
                        continue;
                if (!g_hash_table_add(names, (void *)member->name))
                        return builder_fail(builder, CTF_ERROR_DAMAGED,
                                            "two fields have the name \"%s\"", member->name);
                field = builder_class(builder, member->class, factor);
                if (!field)
                        return false;
                is_ok = class->kind == CTF_KIND_STRUCTURE
                                ? bt_field_class_structure_append_member(out, member->name,
                                                                         field) ==
                                          BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK
                                : bt_field_class_variant_without_selector_append_option(
                                          out, member->name, field) ==
                                          BT_FIELD_CLASS_VARIANT_WITHOUT_SELECTOR_FIELD_APPEND_OPTION_STATUS_OK;
                bt_field_class_put_ref(field);
                if (!is_ok)
                        return builder_fail(builder, CTF_ERROR_SYSTEM, "not enough memory%s", "");
        }
        return true;
}

static bt_field_class *builder_members(FieldClassBuilder *builder, const CtfClass *class,
                                       uint64_t factor)
{
        bt_field_class *out;

        if (class->kind == CTF_KIND_VARIANT && class->members->len == 0)
                return builder_fail(builder, CTF_ERROR_DAMAGED, "a variant has no options%s", "");
        out = class->kind == CTF_KIND_STRUCTURE
                      ? bt_field_class_structure_create(builder->trace_class)
                      : graph_mip_variant_new(builder->mip, builder->trace_class);
        if (class == builder->root)
                builder->structure = out;
        if (out && !builder_add_members(builder, out, class, factor)) {
                bt_field_class_put_ref(out);
                return NULL;
        }
        return out;
}

/* The member NAME of STRUCTURE; NULL: none. Borrowed. */
static bt_field_class *structure_member(bt_field_class *structure, const char *name)
{
        bt_field_class_structure_member *member =
                bt_field_class_structure_borrow_member_by_name(structure, name);

        return member ? bt_field_class_structure_member_borrow_field_class(member) : NULL;
}

/* The name of the root's member with the length of a sequence; NULL: the length is elsewhere. */
static const char *builder_length_name(const FieldClassBuilder *builder, const CtfClass *class)
{
        guint i;

        for (i = 0; i < builder->root->members->len; i++) {
                const CtfMember *member = &g_array_index(builder->root->members, CtfMember, i);

                if (member->class == class->reference && !member->class->is_signed)
                        return member->name;
        }
        return NULL;
}

static bt_field_class *builder_array(FieldClassBuilder *builder, const CtfClass *class,
                                     uint64_t factor)
{
        bt_field_class *out, *element;

        if (ctf_class_is_text(class))
                return bt_field_class_string_create(builder->trace_class);
        if (class->kind == CTF_KIND_ARRAY) {
                if (class->length > FIELD_CLASSES_MAX)
                        return builder_fail(builder, CTF_ERROR_UNSUPPORTED,
                                            "an array is too long%s", "");
                factor *= class->length;
        }
        element = builder_class(builder, class->element, factor);
        if (!element)
                return NULL;
        if (class->kind == CTF_KIND_ARRAY) {
                out = bt_field_class_array_static_create(builder->trace_class, element,
                                                         class->length);
        } else {
                const char *length = builder_length_name(builder, class);

                out = graph_mip_array_new(
                        builder->mip, builder->trace_class, element, builder->scope, length,
                        length ? structure_member(builder->structure, length) : NULL);
        }
        bt_field_class_put_ref(element);
        return out;
}

/* FACTOR: number of such fields in one structure. */
static bt_field_class *builder_class(FieldClassBuilder *builder, const CtfClass *class,
                                     uint64_t factor)
{
        builder->n_fields += factor;
        if (factor > FIELD_CLASSES_MAX || builder->n_fields > FIELD_CLASSES_MAX)
                return builder_fail(builder, CTF_ERROR_UNSUPPORTED, "too many fields%s", "");
        switch (class->kind) {
        case CTF_KIND_INTEGER:
                return builder_bits(builder, class);
        case CTF_KIND_FLOAT:
                return builder_float(builder, class);
        case CTF_KIND_STRING:
                return bt_field_class_string_create(builder->trace_class);
        case CTF_KIND_STRUCTURE:
        case CTF_KIND_VARIANT:
                return builder_members(builder, class, factor);
        case CTF_KIND_ARRAY:
        case CTF_KIND_SEQUENCE:
                return builder_array(builder, class, factor);
        case _CTF_KIND_MAX:
                break;
        }
        return builder_fail(builder, CTF_ERROR_UNSUPPORTED, "a field of an unknown kind%s", "");
}

bt_field_class *field_class_new(uint64_t mip, bt_trace_class *trace_class, CtfScope scope,
                                const CtfClass *root, GError **error)
{
        FieldClassBuilder builder = {
                .mip = mip,
                .trace_class = trace_class,
                .scope = scope,
                .root = root,
                .error = error,
        };
        bt_field_class *out;

        if (!root || !field_class_is_shown(root))
                return NULL;
        if (root->kind != CTF_KIND_STRUCTURE)
                return builder_fail(&builder, CTF_ERROR_UNSUPPORTED,
                                    "the fields of an event are not a structure%s", "");
        out = builder_class(&builder, root, 1);
        if (!out)
                builder_fail(&builder, CTF_ERROR_SYSTEM, "not enough memory%s", "");
        return out;
}

static bt_field_class *row_integer(bt_trace_class *trace_class, unsigned size, bool is_hex)
{
        bt_field_class *out = bt_field_class_integer_unsigned_create(trace_class);

        bt_field_class_integer_set_field_value_range(out, size);
        if (is_hex)
                bt_field_class_integer_set_preferred_display_base(
                        out, BT_FIELD_CLASS_INTEGER_PREFERRED_DISPLAY_BASE_HEXADECIMAL);
        return out;
}

static bt_field_class *row_element(bt_trace_class *trace_class, FieldType type)
{
        bt_field_class *out;

        if (type != FIELD_TYPE_IL_OFFSETS)
                return row_integer(trace_class, 8 * field_type_element_size(type),
                                   type == FIELD_TYPE_U64_ARRAY);
        out = bt_field_class_integer_signed_create(trace_class);
        bt_field_class_integer_set_field_value_range(out, 32);
        return out;
}

static bt_field_class *row_field(uint64_t mip, bt_trace_class *trace_class, const Event *event,
                                 unsigned i, bt_field_class *structure)
{
        const FieldType type = event->fields[i].type;
        const char *count_name;
        bt_field_class *element, *out;

        switch (type) {
        case FIELD_TYPE_U8:
                return row_integer(trace_class, 8, false);
        case FIELD_TYPE_U16:
                return row_integer(trace_class, 16, false);
        case FIELD_TYPE_U32:
                return row_integer(trace_class, 32, false);
        case FIELD_TYPE_U64:
                return row_integer(trace_class, 64, true);
        case FIELD_TYPE_BOOL:
                return bt_field_class_bool_create(trace_class);
        case FIELD_TYPE_GUID:
        case FIELD_TYPE_WSTRING:
        case FIELD_TYPE_ASTRING:
                return bt_field_class_string_create(trace_class);
        case FIELD_TYPE_U64_ARRAY:
        case FIELD_TYPE_IL_OFFSETS:
        case FIELD_TYPE_U32_ARRAY:
        case FIELD_TYPE_U8_ARRAY:
        case FIELD_TYPE_TYPE_LIST:
        case _FIELD_TYPE_MAX:
                break;
        }
        if (type == FIELD_TYPE_TYPE_LIST) { /* bytes, without a field that counts them */
                element = row_integer(trace_class, 8, false);
                out = graph_mip_array_new(mip, trace_class, element, CTF_SCOPE_PAYLOAD, NULL, NULL);
                bt_field_class_put_ref(element);
                return out;
        }
        count_name = field_name(event->fields[i].count);
        element = row_element(trace_class, type);
        out = graph_mip_array_new(mip, trace_class, element, CTF_SCOPE_PAYLOAD, count_name,
                                  structure_member(structure, count_name));
        bt_field_class_put_ref(element);
        return out;
}

bt_field_class *field_class_of_row(uint64_t mip, bt_trace_class *trace_class, const Event *event)
{
        bt_field_class *structure = bt_field_class_structure_create(trace_class);
        unsigned i;

        for (i = 0; structure && i < event->n_fields; i++) {
                bt_field_class *field = row_field(mip, trace_class, event, i, structure);
                bool is_ok =
                        field && bt_field_class_structure_append_member(
                                         structure, field_name(event->fields[i].name), field) ==
                                         BT_FIELD_CLASS_STRUCTURE_APPEND_MEMBER_STATUS_OK;

                bt_field_class_put_ref(field);
                if (!is_ok) {
                        bt_field_class_put_ref(structure);
                        return NULL;
                }
        }
        return structure;
}
