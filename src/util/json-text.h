/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON text, appended to a string
 *
 * There are too many answers and dumped events to build a document tree for each.
 */

#include <glib.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* As g_string_append_len(), but faster if there is room. */
static inline void json_append_bytes(GString *out, const char *bytes, size_t n)
{
        if (n >= out->allocated_len - out->len) {
                g_string_append_len(out, bytes, (gssize)n);
                return;
        }
        memcpy(out->str + out->len, bytes, n);
        out->len += n;
        out->str[out->len] = '\0';
}

/* Appends "TEXT" with quotes, escaped. TEXT is N bytes of valid UTF-8. */
void json_append_text(GString *out, const char *text, size_t n);
/* The same for a string, or null. */
void json_append_string(GString *out, const char *text);
/* Appends N bytes of JSON or text, with "\\uXXXX" for characters that control a terminal (C1
 * controls, and those that change the direction of text). In JSON the meaning is the same. */
void json_append_for_terminal(GString *out, const char *text, size_t n);
/* Appends "0x..". */
void json_append_hex(GString *out, uint64_t u);
/* The same with eight digits. */
void json_append_token(GString *out, uint32_t token);
/* Appends "S.NNNNNNNNN". */
void json_append_time(GString *out, uint64_t time);
/* Appends a number; faster than printf. */
void json_append_u64(GString *out, uint64_t u);
/* Appends U / 1000 with three decimals. */
void json_append_thousandths(GString *out, uint64_t u);
