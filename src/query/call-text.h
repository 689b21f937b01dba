/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Call text: divides the text of a call into pieces that are parsed one by one
 *
 * jansson parses a text at once, which can take 50 ms for 1 MiB. Only the queries of a Resolve are
 * long in valid calls. Their brackets alone find them; the parser checks the JSON of each query,
 * and of the rest of the call.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Limits of a text that is parsed at once: its bytes, and the memory of its values. */
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
 * Parses one value. Returns a new reference. NULL: not JSON, a duplicate name in an object, or,
 * with RET_IS_LARGE, a limit above is exceeded.
 */
json_t *call_text_parse(const char *text, size_t n, bool *ret_is_large);
