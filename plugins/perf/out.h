/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Out: what goes to perf's stdout, which perf prints to as well
 *
 * After a failure nothing more is written.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Out {
        char *bytes; /* owned: not written yet */
        size_t n, size;
        int error; /* errno of what failed, or 0 */
} Out;

bool out_init(Out *out);
void out_deinit(Out *out);

void out_bytes(Out *out, const void *bytes, size_t n);
void out_text(Out *out, const char *text);
/* Numbers, at least WIDTH wide; filled with blanks. */
void out_decimal(Out *out, uint64_t number, unsigned width);
void out_hex(Out *out, uint64_t number, unsigned width);

/* Hands over what is kept. False if that, or anything before, failed. */
bool out_flush(Out *out);
