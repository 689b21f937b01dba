/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Labels: as much of a name as fits in the graphs
 */

#include "profile/data.h"

/*
 * The short form of a managed name, Type.Method: the bytes [RET_BEGIN, RET_END). Any other name as
 * a whole.
 */
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
