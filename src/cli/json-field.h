/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Fields of JSON objects that a daemon sent: NULL, zero or false if a member is missing or has
 * another type
 */

#include "cli/json-span.h"

#include <jansson.h>
#include <stdint.h>

/* Parses the text; NULL if it is not JSON. The caller owns the value. */
json_t *json_span_load(JsonSpan span);

/* Borrowed. */
const char *field_text(const json_t *object, const char *name);
json_t *field_object(const json_t *object, const char *name);
uint64_t field_number(const json_t *object, const char *name);
/* "0x..." */
uint64_t field_hex(const json_t *object, const char *name);
/* "S.NNNNNNNNN", as ns. */
bool field_time(const json_t *object, const char *name, uint64_t *ret_time);

/* The file name of a body's module, "System.Private.CoreLib.dll", or NULL. Borrowed. */
const char *module_file_name(const json_t *body);
