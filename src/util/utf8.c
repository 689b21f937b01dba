/* SPDX-License-Identifier: MIT */
#include "util/utf8.h"

#include <string.h>

/* The beginnings of characters of 1 to 4 bytes, and the smallest character with so many bytes. */
static const struct {
        uint8_t mask, mark;
        uint32_t least;
} FORMS[] = {
        {0x80, 0x00, 0},
        {0xe0, 0xc0, 0x80},
        {0xf0, 0xe0, 0x800},
        {0xf8, 0xf0, 0x10000},
};
enum { N_FORMS = sizeof(FORMS) / sizeof(FORMS[0]) };

size_t utf8_sequence(const uint8_t *bytes, size_t n, uint32_t *ret_c)
{
        size_t form, i;
        uint32_t c;

        for (form = 0; n && form < N_FORMS; form++)
                if ((bytes[0] & FORMS[form].mask) == FORMS[form].mark)
                        break;
        if (!n || form == N_FORMS)
                return 0;
        c = bytes[0] & (uint8_t)~FORMS[form].mask;
        for (i = 1; i <= form; i++) {
                if (i == n || (bytes[i] & 0xc0) != 0x80)
                        return 0;
                c = c << 6 | (bytes[i] & 0x3f);
        }
        if (c < FORMS[form].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
                return 0;
        *ret_c = c;
        return form + 1;
}

size_t utf8_decode(const char *text, uint32_t *ret_c)
{
        /* The NUL does not continue a character, so nothing after it is read. */
        return *text ? utf8_sequence((const uint8_t *)text, N_FORMS, ret_c) : 0;
}

/* Bytes of ASCII without a NUL at the start. */
static inline size_t utf8_ascii_start(const uint8_t *bytes, size_t n)
{
        const uint64_t ones = UINT64_MAX / 0xff;
        size_t i = 0;
        uint64_t word;

        for (; i + sizeof(word) <= n; i += sizeof(word)) {
                memcpy(&word, bytes + i, sizeof(word));
                /* The subtraction sets the upper bit of the first byte that is 0. */
                if (((word - ones) | word) & (ones << 7))
                        break;
        }
        while (i < n && bytes[i] && bytes[i] < 0x80)
                i++;
        return i;
}

bool utf8_is_text(const char *text, size_t n)
{
        const uint8_t *bytes = (const uint8_t *)text;
        size_t i = 0;

        while ((i += utf8_ascii_start(bytes + i, n - i)) < n) {
                uint32_t c;
                size_t n_c = bytes[i] ? utf8_sequence(bytes + i, n - i, &c) : 0;

                if (!n_c)
                        return false;
                i += n_c;
        }
        return true;
}
