/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Call text: the text of a call, divided into pieces that are parsed one at a time
 *
 * jansson parses a text at once, and 1 MiB can take it 50 ms. Only the queries of a Resolve have a
 * reason to be long. They are found by their brackets alone: whether the text is JSON shows when
 * the rest of the call, and each query, is parsed.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Bytes that are parsed at once, and bytes that the values in them may take in memory. */
#define CALL_TEXT_MAX_PIECE  (64u << 10)
#define CALL_TEXT_MAX_VALUES (1u << 20)

/*
 * Finds what is between the brackets of the array "queries" in the object "parameters" of a call:
 * the bytes from RET_BEGIN up to RET_END. False: there is none.
 */
bool call_text_find_queries(const char *text, size_t n, size_t *ret_begin, size_t *ret_end);

/* How many elements there are between the brackets of an array. */
size_t call_text_count_elements(const char *text, size_t n);
/* Where the first of them ends: the index of the comma after it, or N. */
size_t call_text_element_end(const char *text, size_t n);

/*
 * Parses one value. A new reference; NULL: it is not JSON, or a name occurs twice in an object, or
 * RET_IS_LARGE: it has more than one of the limits above.
 */
json_t *call_text_parse(const char *text, size_t n, bool *ret_is_large);
