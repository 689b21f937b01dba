/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON span: parts of a JSON text, verbatim
 *
 * `--json` prints the daemon's answers byte for byte: numbers keep their digits, members their
 * order, strings their escapes. A parser would build millions of values only to write them again,
 * and not the same.
 */

#include <stdbool.h>
#include <stddef.h>

/* Borrowed from the text it is a part of. */
typedef struct JsonSpan {
        const char *at;
        size_t n;
} JsonSpan;

/* The bytes are those of TEXT. */
bool json_span_is(JsonSpan span, const char *text);
/* The value is a string whose bytes between the quotes are those of TEXT. */
bool json_span_is_text(JsonSpan value, const char *text);

/* The value of an object's member; false if it has no such member, or the text is not an object. */
bool json_span_member(JsonSpan object, const char *name, JsonSpan *ret_value);
/*
 * The values of N members in one pass; of one that is not there RET_VALUES has no bytes. Returns
 * the bytes of OBJECT before the end of its last member; 0 if it has none.
 */
size_t json_span_members(JsonSpan object, const char *const *names, size_t n, JsonSpan *ret_values);
/*
 * An array for json_span_next(), which is a member: from its bracket on, up to the object's end.
 * Its own end is not looked for, because it can be long. False as above.
 */
bool json_span_array(JsonSpan object, const char *name, JsonSpan *ret_array);

/*
 * The next element of an array. *POSITION is 0 at first; it is moved after the element. False at
 * the array's end, and if the text is not an array.
 */
bool json_span_next(JsonSpan array, size_t *position, JsonSpan *ret_element);
