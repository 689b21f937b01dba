/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JSON check: where a JSON value ends, without a tree of it
 */

#include <stddef.h>

/*
 * The end of the value at AT of the N bytes of TEXT, which are followed by a NUL; 0 if there is no
 * value, or one that nests deeper than MAX_DEPTH. Takes what RFC 8259 defines, in valid UTF-8, and
 * no NUL in a string.
 */
size_t json_check_value(const char *text, size_t n, size_t at, unsigned max_depth);

/* The first byte from AT on that is not a blank. */
size_t json_check_skip_blanks(const char *text, size_t at);
