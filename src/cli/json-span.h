/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON span: parts of a JSON text as they stand there
 *
 * `--json` hands the daemon's answers on byte for byte: numbers keep their digits, members their
 * order, and nothing is built that would only be printed again.
 */

#include <stdbool.h>
#include <stddef.h>

/* Borrowed from the text it is a part of. */
typedef struct JsonSpan {
        const char *at;
        size_t n;
} JsonSpan;

/* The value of an object's member; false if there is none, or the text is no object. */
bool json_span_member(JsonSpan object, const char *name, JsonSpan *ret_value);

/*
 * The next element of an array. *POSITION is 0 at first, and is moved behind the element. False at
 * the array's end, and where the text is no array.
 */
bool json_span_next(JsonSpan array, size_t *position, JsonSpan *ret_element);
