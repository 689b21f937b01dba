/* SPDX-License-Identifier: MIT */
#pragma once

/* Hexadecimal digits, of either case; libc only */

/* The value of a digit; -1: another character. */
static inline int hex_digit(char c)
{
        return c >= '0' && c <= '9'   ? c - '0'
               : c >= 'a' && c <= 'f' ? c - 'a' + 10
               : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                      : -1;
}

/* The byte that TEXT begins with, two digits; -1: TEXT does not begin so. */
static inline int hex_byte(const char *text)
{
        const int high = hex_digit(text[0]), low = high < 0 ? -1 : hex_digit(text[1]);

        return low < 0 ? -1 : high << 4 | low;
}
