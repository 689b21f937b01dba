/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Printable text: texts of other programs, made safe for a terminal and for every output format
 *
 * Controls, marks that change the direction of writing and other invisible characters are written
 * as \u{HEX}, bytes that are not UTF-8 as \u{fffd}.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* True for an invisible character, or one that changes how others are shown. */
bool printable_is_hidden(uint32_t c);

/* Room for an escape with its NUL. */
#define PRINTABLE_SIZE 16

/*
 * The next piece of TEXT, which ends with a NUL: returns how many bytes of TEXT it is made of, 0 at
 * the end. *RET_PIECE and *RET_N are what to write: bytes of TEXT, or an escape in ESCAPE.
 */
size_t printable_next(const char *text, char escape[PRINTABLE_SIZE], const char **ret_piece,
                      size_t *ret_n);

/* Text in a buffer that can be too small: bytes that do not fit are counted. */
typedef struct TextBuffer {
        char *buffer;
        size_t size;
        size_t n;      /* bytes that all of it needs */
        size_t n_kept; /* bytes that are in the buffer */
} TextBuffer;

/* Adds PART as a whole, or not at all; then nothing later is added. */
void text_buffer_put(TextBuffer *text, const char *part, size_t n);
void text_buffer_put_printable(TextBuffer *text, const char *part);
/* Ends the text with a NUL. */
void text_buffer_end(TextBuffer *text);
