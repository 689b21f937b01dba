/* SPDX-License-Identifier: MIT */
#include "out.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP (256u << 10)

bool out_init(Out *out)
{
        *out = (Out){.bytes = malloc(KEEP), .size = KEEP};
        return out->bytes != NULL;
}

void out_deinit(Out *out)
{
        free(out->bytes);
        *out = (Out){0};
}

static void write_through(Out *out, const void *bytes, size_t n)
{
        if (n && !out->error && fwrite(bytes, 1, n, stdout) != n)
                out->error = errno ? errno : EIO;
}

void out_bytes(Out *out, const void *bytes, size_t n)
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

void out_text(Out *out, const char *text)
{
        out_bytes(out, text, strlen(text));
}

/* By hand: there are millions of them, and printf() takes longer than all the rest. */
static void out_number(Out *out, uint64_t number, unsigned base, unsigned width)
{
        char digits[64], *at = digits + sizeof(digits);

        do {
                *--at = "0123456789abcdef"[number % base];
                number /= base;
        } while (number);
        while (digits + sizeof(digits) - at < (ptrdiff_t)width && at > digits)
                *--at = ' ';
        out_bytes(out, at, (size_t)(digits + sizeof(digits) - at));
}

void out_decimal(Out *out, uint64_t number, unsigned width)
{
        out_number(out, number, 10, width);
}

void out_hex(Out *out, uint64_t number, unsigned width)
{
        out_number(out, number, 16, width);
}

bool out_flush(Out *out)
{
        write_through(out, out->bytes, out->n);
        out->n = 0;
        return !out->error;
}
