/* SPDX-License-Identifier: MIT */
#include "query/parameters.h"

#include <glib.h>
#include <string.h>

bool param_has(const json_t *object, const char *name)
{
        const json_t *member = json_object_get(object, name);

        return member && !json_is_null(member);
}

bool param_integer(const json_t *object, const char *name, int64_t min, int64_t max,
                   int64_t *ret_value)
{
        const json_t *member = json_object_get(object, name);

        if (!json_is_integer(member))
                return false;
        *ret_value = json_integer_value(member);
        return *ret_value >= min && *ret_value <= max;
}

const char *param_string(const json_t *object, const char *name)
{
        return json_string_value(json_object_get(object, name));
}

bool param_bool(const json_t *object, const char *name)
{
        return json_is_true(json_object_get(object, name));
}

bool param_address(const char *text, uint64_t *ret_address)
{
        const char *digits = text;
        char *end;

        if (g_str_has_prefix(digits, "0x") || g_str_has_prefix(digits, "0X"))
                digits += 2;
        if (!g_ascii_isxdigit(*digits) || strlen(digits) > 16)
                return false;
        *ret_address = g_ascii_strtoull(digits, &end, 16);
        return !*end;
}
