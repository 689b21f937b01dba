/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Text output: what is printed, in large pieces
 *
 * After a failure nothing more is written.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes all N bytes. Returns 0, or the errno of what failed. */
typedef int (*TextOutFn)(void *data, const void *bytes, size_t n);

typedef struct TextOut {
        char *bytes; /* owned: not written yet */
        size_t n, size;
        int error; /* errno of what failed, or 0 */
        TextOutFn write;
        void *data; /* for it */
} TextOut;

bool text_out_init(TextOut *out, TextOutFn write, void *data);
void text_out_deinit(TextOut *out);

void text_out_bytes(TextOut *out, const void *bytes, size_t n);
void text_out_text(TextOut *out, const char *text);
/* Numbers, at least WIDTH wide; filled with blanks. */
void text_out_decimal(TextOut *out, uint64_t number, unsigned width);
void text_out_hex(TextOut *out, uint64_t number, unsigned width);

/* Writes all kept text. False if that, or an earlier write, failed. */
bool text_out_flush(TextOut *out);
