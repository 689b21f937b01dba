/* SPDX-License-Identifier: MIT */
#include "client/utf8.h"

/* How a character of 2, 3 or 4 bytes begins, and the least that so many bytes are for. */
static const struct {
        uint8_t mask, mark;
        uint32_t least;
} FORMS[] = {{0xe0, 0xc0, 0x80}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

size_t utf8_decode(const char *text, uint32_t *ret_c)
{
        const uint8_t *bytes = (const uint8_t *)text;
        size_t i, j;

        if (bytes[0] < 0x80) {
                *ret_c = bytes[0];
                return bytes[0] != 0;
        }
        for (i = 0; i < sizeof(FORMS) / sizeof(FORMS[0]); i++) {
                uint32_t c = bytes[0] & (uint8_t)~FORMS[i].mask;

                if ((bytes[0] & FORMS[i].mask) != FORMS[i].mark)
                        continue;
                /* The NUL at the end is no byte of the kind that follows. */
                for (j = 1; j < i + 2; j++) {
                        if ((bytes[j] & 0xc0) != 0x80)
                                return 0;
                        c = c << 6 | (bytes[j] & 0x3f);
                }
                if (c < FORMS[i].least || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
                        return 0;
                *ret_c = c;
                return i + 2;
        }
        return 0;
}

bool utf8_is_text(const char *text, size_t n)
{
        const char *end = text + n;

        while (text < end) {
                uint32_t c;
                size_t n_c = utf8_decode(text, &c);

                if (!n_c)
                        return false;
                text += n_c;
        }
        return text == end;
}
