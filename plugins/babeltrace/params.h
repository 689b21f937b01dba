/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Parameters of a component, checked before anything else is done
 */

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum ParamType {
        PARAM_STRING,
        PARAM_INTEGER, /* signed or not */
        PARAM_TIME,    /* a string, or an integer of ns */
        PARAM_BOOL,
        PARAM_STRINGS,
} ParamType;

typedef struct Param {
        const char *name;
        ParamType type;
} Param;

/*
 * True if PARAMS holds nothing but these parameters, each of its type. Else the current thread's
 * error has a cause that names what is wrong and which parameters are known.
 */
bool params_check(bt_self_component *self, const bt_value *params, const Param *known,
                  size_t n_known);

/* The text of that cause, owned; NULL if all is well. */
char *params_error(const bt_value *params, const Param *known, size_t n_known);

/* False if it is not given. */
bool params_bool(const bt_value *params, const char *name);
/* The parameter, or NULL. Borrowed of PARAMS. */
const char *params_string(const bt_value *params, const char *name);
/* False if it is not given, or (*RET_VALUE untouched) not in INT64_MIN .. INT64_MAX. */
bool params_integer(const bt_value *params, const char *name, int64_t *ret_value);
