/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Printable: other programs' words, fit for a terminal
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text into a buffer that may be too small: what does not fit is counted. */
typedef struct Writer {
        char *buffer;
        size_t size;
        size_t n;      /* bytes that all of it needs */
        size_t n_kept; /* bytes that are in the buffer */
} Writer;

/* A part that is in the buffer whole, or not at all; then nothing that comes later is. */
void writer_put(Writer *writer, const char *part, size_t n);
void writer_put_text(Writer *writer, const char *text);
/*
 * Controls, marks that turn the direction of writing, and the like are written as \u{...}, what is
 * no UTF-8 as \u{fffd}.
 */
void writer_put_printable(Writer *writer, const char *text);
/* Ends the text with a NUL. */
void writer_end(Writer *writer);
