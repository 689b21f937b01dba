/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Text output: what the filter writes to perf's stdout
 *
 * After a failure nothing more is written.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct TextOut {
        char *bytes; /* owned: not written yet */
        size_t n, size;
        int error; /* errno of what failed, or 0 */
} TextOut;

bool text_out_init(TextOut *out);
void text_out_deinit(TextOut *out);

void text_out_bytes(TextOut *out, const void *bytes, size_t n);
void text_out_text(TextOut *out, const char *text);
/* Numbers, at least WIDTH wide; filled with blanks. */
void text_out_decimal(TextOut *out, uint64_t number, unsigned width);
void text_out_hex(TextOut *out, uint64_t number, unsigned width);

/* Writes all kept text. False if that, or an earlier write, failed. */
bool text_out_flush(TextOut *out);
