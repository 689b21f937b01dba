/* SPDX-License-Identifier: MIT */
#include "params.h"

#include <glib.h>
#include <string.h>

static const char *const TYPE_NAMES[] = {
        [PARAM_STRING] = "a string",
        [PARAM_INTEGER] = "an integer",
        [PARAM_TIME] = "a time: a string (quoted: \"12.5\") or an integer of nanoseconds",
        [PARAM_BOOL] = "yes or no",
        [PARAM_STRINGS] = "a list of strings",
};

typedef struct Check {
        const Param *known;
        size_t n_known;
        char *error; /* owned; NULL: no error */
} Check;

static const bool FITS[][4] = {
        /* string, integer, bool, list of strings */
        [PARAM_STRING] = {true, false, false, false},
        [PARAM_INTEGER] = {false, true, false, false},
        [PARAM_TIME] = {true, true, false, false},
        [PARAM_BOOL] = {false, false, true, false},
        [PARAM_STRINGS] = {false, false, false, true},
};

static bool is_list_of_strings(const bt_value *value)
{
        uint64_t i;

        if (!bt_value_is_array(value))
                return false;
        for (i = 0; i < bt_value_array_get_length(value); i++)
                if (!bt_value_is_string(bt_value_array_borrow_element_by_index_const(value, i)))
                        return false;
        return true;
}

static bool param_type_fits(const bt_value *value, ParamType type)
{
        bool is_string = bt_value_is_string(value);
        bool is_integer = bt_value_is_signed_integer(value) || bt_value_is_unsigned_integer(value);

        return (is_string && FITS[type][0]) || (is_integer && FITS[type][1]) ||
               (bt_value_is_bool(value) && FITS[type][2]) ||
               (FITS[type][3] && is_list_of_strings(value));
}

static bt_value_map_foreach_entry_const_func_status
params_check_entry(const char *name, const bt_value *value, void *data)
{
        Check *check = data;
        g_autoptr(GString) names = NULL;
        size_t i;

        for (i = 0; i < check->n_known; i++) {
                const Param *param = &check->known[i];

                if (strcmp(name, param->name))
                        continue;
                if (param_type_fits(value, param->type))
                        return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_OK;
                check->error =
                        g_strdup_printf("Parameter `%s` must be %s", name, TYPE_NAMES[param->type]);
                return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_INTERRUPT;
        }

        names = g_string_new(NULL);
        for (i = 0; i < check->n_known; i++)
                g_string_append_printf(names, "%s`%s`", i ? ", " : "", check->known[i].name);
        check->error = g_strdup_printf("Unknown parameter `%s`: give one of %s", name, names->str);
        return BT_VALUE_MAP_FOREACH_ENTRY_CONST_FUNC_STATUS_INTERRUPT;
}

char *params_error(const bt_value *params, const Param *known, size_t n_known)
{
        Check check = {.known = known, .n_known = n_known};

        if (bt_value_map_foreach_entry_const(params, params_check_entry, &check) ==
            BT_VALUE_MAP_FOREACH_ENTRY_CONST_STATUS_MEMORY_ERROR)
                return g_strdup("Not enough memory");
        return check.error;
}

bool params_check(bt_self_component *self, const bt_value *params, const Param *known,
                  size_t n_known)
{
        /* Outside of the loop: babeltrace2 aborts on a cause without an error status. */
        g_autofree char *error = params_error(params, known, n_known);

        if (error)
                BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT(self, "%s", error);
        return !error;
}

bool params_bool(const bt_value *params, const char *name)
{
        const bt_value *value = bt_value_map_borrow_entry_value_const(params, name);

        return value && bt_value_is_bool(value) && bt_value_bool_get(value);
}

const char *params_string(const bt_value *params, const char *name)
{
        const bt_value *value = bt_value_map_borrow_entry_value_const(params, name);

        return value && bt_value_is_string(value) ? bt_value_string_get(value) : NULL;
}

bool params_integer(const bt_value *params, const char *name, int64_t *ret_value)
{
        const bt_value *value = bt_value_map_borrow_entry_value_const(params, name);

        if (!value || bt_value_is_string(value))
                return false;
        if (bt_value_is_signed_integer(value)) {
                *ret_value = bt_value_integer_signed_get(value);
                return true;
        }
        if (bt_value_integer_unsigned_get(value) > INT64_MAX)
                return false;
        *ret_value = (int64_t)bt_value_integer_unsigned_get(value);
        return true;
}
