/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * UTF-8 as RFC 3629 has it: no surrogates, nothing longer than it need be
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The character at TEXT, which ends with a NUL: its bytes, or 0 if there is none. */
size_t utf8_decode(const char *text, uint32_t *ret_c);
/* No NUL in it either. TEXT ends with a NUL behind its N bytes. */
bool utf8_is_text(const char *text, size_t n);
