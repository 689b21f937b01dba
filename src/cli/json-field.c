/* SPDX-License-Identifier: MIT */
#include "cli/json-field.h"

#include "util/seconds-text.h"

#include <glib.h>
#include <string.h>

json_t *json_span_load(JsonSpan span)
{
        return json_loadb(span.at, span.n, JSON_DECODE_ANY, NULL);
}

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

uint64_t field_hex(const json_t *object, const char *name)
{
        const char *text = field_text(object, name);

        return text && g_str_has_prefix(text, "0x") ? g_ascii_strtoull(text + 2, NULL, 16) : 0;
}

bool field_time(const json_t *object, const char *name, uint64_t *ret_time)
{
        const char *text = field_text(object, name);

        return text && seconds_from_text(text, ret_time);
}

const char *module_file_name(const json_t *body)
{
        const char *path = field_text(field_object(body, "module"), "path");
        const char *slash = path ? strrchr(path, '/') : NULL;

        if (slash)
                path = slash + 1;
        return path && *path ? path : NULL;
}
