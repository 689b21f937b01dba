/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON check: where a JSON value and its parts are, without a tree of it
 */

#include <stdbool.h>
#include <stddef.h>

/* Deepest nesting of a reply. The JSON parser recurses, and a thread's stack may be small. */
#define JSON_CHECK_MAX_DEPTH 32

/*
 * The end of the value at AT of the N bytes of TEXT, which are followed by a NUL; 0 if there is no
 * value, or one that nests deeper than MAX_DEPTH. Takes what RFC 8259 defines, in valid UTF-8, and
 * no NUL in a string.
 */
size_t json_check_value(const char *text, size_t n, size_t at, unsigned max_depth);

/* The first byte from AT on that is not a blank. */
size_t json_check_skip_blanks(const char *text, size_t at);

/*
 * Parts of a text that was checked. AT is the bracket of an array or of an object, or the end of
 * the last part; it is moved to the next element, or to the name of the next member. False at the
 * end.
 */
bool json_next(const char *text, size_t *at);
/* The member NAME of the object at AT: moves AT to its value. False: the object has none. */
bool json_find_member(const char *text, size_t n, const char *name, size_t *at);
/* True if NAME is the N bytes of a string with its quotes, in which no byte is escaped. */
bool json_is_string_of(const char *quoted, size_t n, const char *name);
