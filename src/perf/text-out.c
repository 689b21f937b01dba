/* SPDX-License-Identifier: MIT */
#include "perf/text-out.h"

#include <stdlib.h>
#include <string.h>

#define KEEP (256u << 10)

bool text_out_init(TextOut *out, TextOutFn write, void *data)
{
        *out = (TextOut){.bytes = malloc(KEEP), .size = KEEP, .write = write, .data = data};
        return out->bytes != NULL;
}

void text_out_deinit(TextOut *out)
{
        free(out->bytes);
        *out = (TextOut){0};
}

static void write_through(TextOut *out, const void *bytes, size_t n)
{
        if (n && !out->error)
                out->error = out->write(out->data, bytes, n);
}

void text_out_bytes(TextOut *out, const void *bytes, size_t n)
{
        if (n > out->size - out->n) {
                write_through(out, out->bytes, out->n);
                out->n = 0;
        }
        if (n > out->size) {
                write_through(out, bytes, n);
                return;
        }
        if (n)
                memcpy(out->bytes + out->n, bytes, n);
        out->n += n;
}

void text_out_text(TextOut *out, const char *text)
{
        text_out_bytes(out, text, strlen(text));
}

/* Not by printf(), which would take most of the time for millions of numbers. */
static void out_number(TextOut *out, uint64_t number, unsigned base, unsigned width)
{
        char digits[64], *at = digits + sizeof(digits);

        do {
                *--at = "0123456789abcdef"[number % base];
                number /= base;
        } while (number);
        while (digits + sizeof(digits) - at < (ptrdiff_t)width && at > digits)
                *--at = ' ';
        text_out_bytes(out, at, (size_t)(digits + sizeof(digits) - at));
}

void text_out_decimal(TextOut *out, uint64_t number, unsigned width)
{
        out_number(out, number, 10, width);
}

void text_out_hex(TextOut *out, uint64_t number, unsigned width)
{
        out_number(out, number, 16, width);
}

bool text_out_flush(TextOut *out)
{
        write_through(out, out->bytes, out->n);
        out->n = 0;
        return !out->error;
}
