/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Labels: as much of a name as has room in the graphs
 */

#include "profile/data.h"

/*
 * The part [RET_BEGIN, RET_END) of a managed name, in bytes, that is its short form, Type.Method;
 * all of any other name.
 */
void label_short(const Frame *frame, size_t *ret_begin, size_t *ret_end);

/* Monospaced cells of N bytes of text. */
size_t label_cells(const char *text, size_t n);

/* What JavaScript takes for the length of N bytes of text. */
size_t label_utf16_length(const char *text, size_t n);

/* The name if it has room in CELLS, or its short form, or the begin of that; else nothing. */
void label_append(GString *out, const Frame *frame, size_t cells);
