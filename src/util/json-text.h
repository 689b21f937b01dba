/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON text, appended to a string
 *
 * Answers and dumped events are too many to build a document tree for each.
 */

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/* Appends "TEXT" with quotes, escaped. TEXT is N bytes of valid UTF-8. */
void json_append_text(GString *out, const char *text, size_t n);
/* The same for a string, or null. */
void json_append_string(GString *out, const char *text);
/* Appends "0x..". */
void json_append_hex(GString *out, uint64_t u);
/* Appends "S.NNNNNNNNN". */
void json_append_time(GString *out, uint64_t time);
/* Appends a number; faster than printf. */
void json_append_u64(GString *out, uint64_t u);
