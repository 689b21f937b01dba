/* SPDX-License-Identifier: MIT */
#pragma once

/* Labels: the part of a name that fits into a graph */

#include "profile/data.h"

/* The short form of a managed name, Type.Method: the bytes [RET_BEGIN, RET_END). For any other
 * name, the whole name. */
void label_short(const Frame *frame, size_t *ret_begin, size_t *ret_end);

/* Monospaced cells of N bytes of text. */
size_t label_cells(const char *text, size_t n);

/* The length of N bytes of text in JavaScript. */
size_t label_utf16_length(const char *text, size_t n);

/*
 * Appends the name if it fits in CELLS, else its short form, else the beginning of that, else
 * nothing.
 */
void label_append(GString *out, const Frame *frame, size_t cells);
