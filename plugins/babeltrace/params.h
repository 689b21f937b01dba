/* SPDX-License-Identifier: MIT */
#pragma once

/* Parameters of a component, checked first */

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stddef.h>

typedef enum ParamType {
        PARAM_STRING,
        PARAM_INTEGER, /* signed or unsigned */
        PARAM_TIME,    /* a string, or an integer of ns */
        PARAM_BOOL,
        PARAM_STRINGS,
} ParamType;

typedef struct Param {
        const char *name;
        ParamType type;
} Param;

/*
 * True if PARAMS has only known parameters of the right types. Else appends a cause to the current
 * thread's error: it names the wrong parameter, and the known ones.
 */
bool params_check(bt_self_component *self, const bt_value *params, const Param *known,
                  size_t n_known);

/* The text of that cause, owned; NULL: no error. */
char *params_error(const bt_value *params, const Param *known, size_t n_known);

/* False also if it is not given. */
bool params_bool(const bt_value *params, const char *name);
/* The parameter; NULL: not given. Borrowed from PARAMS. */
const char *params_string(const bt_value *params, const char *name);
/* False: not given, or (*RET_VALUE untouched) outside of INT64_MIN .. INT64_MAX. */
bool params_integer(const bt_value *params, const char *name, int64_t *ret_value);
