/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * UTF-8 as RFC 3629 defines it: no surrogates, no overlong forms, nothing above U+10FFFF
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The size of the character at the start of the N bytes at BYTES, or 0 if there is none. */
size_t utf8_sequence(const uint8_t *bytes, size_t n, uint32_t *ret_c);
/* The same for a text that ends with a NUL; 0 at its end, too. */
size_t utf8_decode(const char *text, uint32_t *ret_c);
/* True if all N bytes are valid, without a NUL. Fast for texts that are mostly ASCII. */
bool utf8_is_text(const char *text, size_t n);
