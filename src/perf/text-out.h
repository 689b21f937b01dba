/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Text output: writes text in large pieces
 *
 * After a failed write, all further output is dropped.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Writes all N bytes. Returns 0 or an errno. */
typedef int (*TextOutFn)(void *data, const void *bytes, size_t n);

typedef struct TextOut {
        char *bytes; /* owned: not written yet */
        size_t n, size;
        int error; /* errno of the first failed write, or 0 */
        TextOutFn write;
        void *data; /* for WRITE */
} TextOut;

bool text_out_init(TextOut *out, TextOutFn write, void *data);
void text_out_deinit(TextOut *out);

void text_out_bytes(TextOut *out, const void *bytes, size_t n);
void text_out_text(TextOut *out, const char *text);
/* Numbers, padded with blanks to WIDTH. */
void text_out_decimal(TextOut *out, uint64_t number, unsigned width);
void text_out_hex(TextOut *out, uint64_t number, unsigned width);

/* Writes all buffered text. False: this or an earlier write failed. */
bool text_out_flush(TextOut *out);
