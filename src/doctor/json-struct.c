/* SPDX-License-Identifier: MIT */
#include "doctor/json-struct.h"

#include <stdint.h>
#include <string.h>

static void *member_of(const JsonMember *member, const void *from)
{
        return (char *)from + member->offset;
}

void json_struct_clear(const JsonStruct *type, void *from)
{
        size_t i;
        guint j;

        for (i = 0; i < type->n_members; i++) {
                const JsonMember *member = &type->members[i];
                GPtrArray **structs;

                switch (member->type) {
                case JSON_MEMBER_BOOL:
                case JSON_MEMBER_INT:
                        break;
                case JSON_MEMBER_TEXT:
                        g_free(*(char **)member_of(member, from));
                        break;
                case JSON_MEMBER_TEXTS:
                        g_clear_pointer((GPtrArray **)member_of(member, from), g_ptr_array_unref);
                        break;
                case JSON_MEMBER_INTS:
                        g_clear_pointer((GArray **)member_of(member, from), g_array_unref);
                        break;
                case JSON_MEMBER_STRUCTS:
                        structs = member_of(member, from);
                        for (j = 0; *structs && j < (*structs)->len; j++)
                                json_struct_clear(member->element, (*structs)->pdata[j]);
                        g_clear_pointer(structs, g_ptr_array_unref);
                }
        }
        memset(from, 0, type->size);
}

static json_t *json_text(const char *text)
{
        g_autofree char *valid = g_utf8_make_valid(text, -1);

        return json_string(valid);
}

static json_t *json_from_texts(const GPtrArray *texts)
{
        json_t *array = json_array();
        guint i;

        for (i = 0; i < texts->len; i++)
                json_array_append_new(array, json_text(texts->pdata[i]));
        return array;
}

static json_t *json_from_ints(const GArray *ints)
{
        json_t *array = json_array();
        guint i;

        for (i = 0; i < ints->len; i++)
                json_array_append_new(array, json_integer(g_array_index(ints, int64_t, i)));
        return array;
}

static json_t *json_from_structs(const JsonStruct *type, const GPtrArray *structs)
{
        json_t *array = json_array();
        guint i;

        for (i = 0; i < structs->len; i++)
                json_array_append_new(array, json_struct_write(type, structs->pdata[i]));
        return array;
}

/* NULL: the member is omitted. */
static json_t *json_from_member(const JsonMember *member, const void *from)
{
        const void *at = member_of(member, from);
        const void *pointer;

        switch (member->type) {
        case JSON_MEMBER_BOOL:
                return json_boolean(*(const bool *)at);
        case JSON_MEMBER_INT:
                return json_integer(*(const int64_t *)at);
        case JSON_MEMBER_TEXT:
        case JSON_MEMBER_TEXTS:
        case JSON_MEMBER_INTS:
        case JSON_MEMBER_STRUCTS:
                break;
        }
        pointer = *(void *const *)at;
        if (!pointer)
                return NULL;
        return member->type == JSON_MEMBER_TEXT    ? json_text(pointer)
               : member->type == JSON_MEMBER_TEXTS ? json_from_texts(pointer)
               : member->type == JSON_MEMBER_INTS  ? json_from_ints(pointer)
                                                   : json_from_structs(member->element, pointer);
}

json_t *json_struct_write(const JsonStruct *type, const void *from)
{
        json_t *object = json_object();
        size_t i;

        for (i = 0; i < type->n_members; i++) {
                json_t *value = json_from_member(&type->members[i], from);

                if (value)
                        json_object_set_new(object, type->members[i].name, value);
        }
        return object;
}

static GPtrArray *json_to_texts(const json_t *array)
{
        GPtrArray *texts = g_ptr_array_new_with_free_func(g_free);
        json_t *value;
        size_t i;

        json_array_foreach(array, i, value)
        {
                if (json_is_string(value))
                        g_ptr_array_add(texts, g_strdup(json_string_value(value)));
        }
        return texts;
}

static GArray *json_to_ints(const json_t *array)
{
        GArray *ints = g_array_new(FALSE, FALSE, sizeof(int64_t));
        json_t *value;
        size_t i;

        json_array_foreach(array, i, value)
        {
                const int64_t number = json_integer_value(value);

                g_array_append_val(ints, number);
        }
        return ints;
}

static GPtrArray *json_to_structs(const JsonStruct *type, const json_t *array)
{
        GPtrArray *structs = g_ptr_array_new_with_free_func(g_free);
        json_t *value;
        size_t i;

        json_array_foreach(array, i, value)
        {
                g_autofree void *element = g_malloc0(type->size);

                if (json_struct_read(type, value, element))
                        g_ptr_array_add(structs, g_steal_pointer(&element));
        }
        return structs;
}

static void json_to_member(const JsonMember *member, const json_t *value, void *to)
{
        void *at = member_of(member, to);

        switch (member->type) {
        case JSON_MEMBER_BOOL:
                *(bool *)at = json_is_true(value);
                break;
        case JSON_MEMBER_INT:
                *(int64_t *)at = json_integer_value(value);
                break;
        case JSON_MEMBER_TEXT:
                *(char **)at = g_strdup(json_string_value(value));
                break;
        case JSON_MEMBER_TEXTS:
                *(GPtrArray **)at = json_is_array(value) ? json_to_texts(value) : NULL;
                break;
        case JSON_MEMBER_INTS:
                *(GArray **)at = json_is_array(value) ? json_to_ints(value) : NULL;
                break;
        case JSON_MEMBER_STRUCTS:
                *(GPtrArray **)at =
                        json_is_array(value) ? json_to_structs(member->element, value) : NULL;
        }
}

bool json_struct_read(const JsonStruct *type, const json_t *object, void *ret)
{
        size_t i;

        memset(ret, 0, type->size);
        if (!json_is_object(object))
                return false;
        for (i = 0; i < type->n_members; i++)
                json_to_member(&type->members[i], json_object_get(object, type->members[i].name),
                               ret);
        return true;
}
