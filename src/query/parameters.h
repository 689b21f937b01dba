/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Parameters of a call: checked members of a JSON object
 *
 * A null member counts as absent. Without OBJECT (NULL), all members are absent.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

bool param_has(const json_t *object, const char *name);
/* False: absent, or not an integer in [min, max]. */
bool param_integer(const json_t *object, const char *name, int64_t min, int64_t max,
                   int64_t *ret_value);
/* Borrowed; NULL: absent, or not a string. */
const char *param_string(const json_t *object, const char *name);
bool param_bool(const json_t *object, const char *name);
/* Hexadecimal, with or without 0x. */
bool param_address(const char *text, uint64_t *ret_address);
