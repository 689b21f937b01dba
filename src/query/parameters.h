/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Parameters of a call: members of a JSON object, checked
 *
 * A null member counts as absent; OBJECT may be NULL: then all are absent.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

bool param_has(const json_t *object, const char *name);
/* False if it is absent, or is not an integer in [min, max]. */
bool param_integer(const json_t *object, const char *name, int64_t min, int64_t max,
                   int64_t *ret_value);
/* Borrowed; NULL if it is absent or is not a string. */
const char *param_string(const json_t *object, const char *name);
bool param_bool(const json_t *object, const char *name);
/* Hexadecimal, with or without 0x. */
bool param_address(const char *text, uint64_t *ret_address);
