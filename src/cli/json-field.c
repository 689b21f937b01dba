/* SPDX-License-Identifier: MIT */
#include "cli/json-field.h"

#include "util/seconds-text.h"

const char *field_text(const json_t *object, const char *name)
{
        return json_string_value(json_object_get(object, name));
}

json_t *field_object(const json_t *object, const char *name)
{
        json_t *value = json_object_get(object, name);

        return json_is_object(value) ? value : NULL;
}

uint64_t field_number(const json_t *object, const char *name)
{
        json_int_t i = json_integer_value(json_object_get(object, name));

        return i > 0 ? (uint64_t)i : 0;
}

bool field_time(const json_t *object, const char *name, uint64_t *ret_time)
{
        const char *text = field_text(object, name);

        return text && seconds_from_text(text, ret_time);
}
