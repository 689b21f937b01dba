/* SPDX-License-Identifier: MIT */
#include "util/json-text.h"

#include "util/json-plain.h"
#include "util/utf8.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* Characters with an escape in a text. */
static const bool SPECIALS[UCHAR_MAX + 1] = {
        [0 ... 0x1f] = true,
        ['"'] = true,
        ['\\'] = true,
        [0x7f] = true,
};

void json_append_text(GString *out, const char *text, size_t n)
{
        static const char HEX[] = "0123456789abcdef";
        size_t i, begin = 0;

        g_string_append_c(out, '"');
        for (i = json_plain_start(text, n); i < n; i++) {
                unsigned char c = (unsigned char)text[i];

                if (!SPECIALS[c])
                        continue;
                json_append_bytes(out, text + begin, i - begin);
                begin = i + 1;
                if (c == '"' || c == '\\') {
                        const char escape[] = {'\\', (char)c};

                        json_append_bytes(out, escape, sizeof(escape));
                } else {
                        const char escape[] = {'\\', 'u', '0', '0', HEX[c >> 4], HEX[c & 15]};

                        json_append_bytes(out, escape, sizeof(escape));
                }
        }
        json_append_bytes(out, text + begin, n - begin);
        g_string_append_c(out, '"');
}

/* Characters that control a terminal: controls, and those that change the direction of text. */
static const struct {
        uint32_t first, last;
} OBEYED[] = {
        {0x80, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x202a, 0x202e}, {0x2066, 0x2069},
};

/* The bytes of the character at TEXT, of N bytes, if it is in OBEYED; else 0. */
static size_t text_obeyed(const char *text, size_t n, uint32_t *ret_c)
{
        const size_t n_bytes = utf8_sequence((const uint8_t *)text, n, ret_c);
        size_t i;

        for (i = 0; n_bytes > 1 && i < G_N_ELEMENTS(OBEYED); i++)
                if (*ret_c >= OBEYED[i].first && *ret_c <= OBEYED[i].last)
                        return n_bytes;
        return 0;
}

void json_append_for_terminal(GString *out, const char *text, size_t n)
{
        size_t i, begin = 0, n_obeyed;
        uint32_t c;

        for (i = 0; i < n; i++) {
                /* The first byte of a character of several bytes. */
                if ((unsigned char)text[i] < 0xc2 || !(n_obeyed = text_obeyed(text + i, n - i, &c)))
                        continue;
                json_append_bytes(out, text + begin, i - begin);
                g_string_append_printf(out, "\\u%04x", c);
                begin = i + n_obeyed;
                i = begin - 1;
        }
        json_append_bytes(out, text + begin, n - begin);
}

void json_append_string(GString *out, const char *text)
{
        if (text)
                json_append_text(out, text, strlen(text));
        else
                json_append_bytes(out, "null", 4);
}

/* With at least N_DIGITS digits. */
static void json_append_hex_digits(GString *out, uint64_t u, ptrdiff_t n_digits)
{
        char text[20], *end = text + sizeof(text), *p;

        *--end = '"';
        p = end;
        do {
                *--p = "0123456789abcdef"[u & 15];
                u >>= 4;
        } while (u || end - p < n_digits);
        *--p = 'x';
        *--p = '0';
        g_string_append_c(out, '"');
        json_append_bytes(out, p, (size_t)(text + sizeof(text) - p));
}

void json_append_hex(GString *out, uint64_t u)
{
        json_append_hex_digits(out, u, 1);
}

void json_append_token(GString *out, uint32_t token)
{
        json_append_hex_digits(out, token, 8);
}

static char *text_put_digits(char *end, uint64_t u)
{
        do
                *--end = (char)('0' + u % 10);
        while (u /= 10);
        return end;
}

/* U / 10^N_DECIMALS. */
static char *text_put_decimal(char *end, uint64_t u, unsigned n_decimals)
{
        for (; n_decimals; n_decimals--, u /= 10)
                *--end = (char)('0' + u % 10);
        *--end = '.';
        return text_put_digits(end, u);
}

void json_append_u64(GString *out, uint64_t u)
{
        char text[20], *p = text_put_digits(text + sizeof(text), u);

        json_append_bytes(out, p, (size_t)(text + sizeof(text) - p));
}

void json_append_thousandths(GString *out, uint64_t u)
{
        char text[24], *p = text_put_decimal(text + sizeof(text), u, 3);

        json_append_bytes(out, p, (size_t)(text + sizeof(text) - p));
}

void json_append_time(GString *out, uint64_t time)
{
        char text[32], *end = text + sizeof(text), *p;

        *--end = '"';
        p = text_put_decimal(end, time, 9);
        *--p = '"';
        json_append_bytes(out, p, (size_t)(text + sizeof(text) - p));
}
