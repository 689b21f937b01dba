/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Fields of JSON objects that a daemon sent: NULL, zero or false if a member is missing or has
 * another type
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Borrowed. */
const char *field_text(const json_t *object, const char *name);
json_t *field_object(const json_t *object, const char *name);
uint64_t field_number(const json_t *object, const char *name);
/* "S.NNNNNNNNN", as ns. */
bool field_time(const json_t *object, const char *name, uint64_t *ret_time);
