/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Call text: the text of a call, divided into pieces that are parsed one at a time
 *
 * jansson parses a text at once, which can take 50 ms for 1 MiB. Only the queries of a Resolve can
 * rightly be long. They are found by their brackets alone; the parser checks the JSON of each
 * query, and of the rest of the call.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Most bytes parsed at once, and most bytes of memory for their values. */
#define CALL_TEXT_MAX_PIECE  (64u << 10)
#define CALL_TEXT_MAX_VALUES (1u << 20)

/*
 * Finds the text between the brackets of the array "queries" in the object "parameters" of a call:
 * the bytes from RET_BEGIN up to RET_END. False: the call has no such array.
 */
bool call_text_find_queries(const char *text, size_t n, size_t *ret_begin, size_t *ret_end);

/* The number of elements between the brackets of an array. */
size_t call_text_count_elements(const char *text, size_t n);
/* The end of the first element: the index of the comma after it, or N. */
size_t call_text_element_end(const char *text, size_t n);

/*
 * Parses one value. Returns a new reference. NULL: the text is not JSON; or an object has a name
 * twice; or, with RET_IS_LARGE, it exceeds a limit above.
 */
json_t *call_text_parse(const char *text, size_t n, bool *ret_is_large);
