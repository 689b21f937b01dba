/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON: text and numbers in the forms that are made of it
 */

#include <glib.h>
#include <stdint.h>

/*
 * Appends "TEXT", which is valid UTF-8, with quotes. It is ASCII without '<', '>' and '&', so that
 * it can stand in a script of an HTML page, whatever the page's encoding.
 */
void json_append(GString *out, const char *text);
/* Appends a number; faster than printf. */
void json_append_number(GString *out, uint64_t number);
