/* SPDX-License-Identifier: MIT */
#include "util/json-text.h"

#include "util/json-plain.h"
#include "util/printable.h"
#include "util/utf8.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* Characters that are escaped in a text, and the first bytes of longer ones that can be hidden
 * (util/printable.h). */
static const bool SPECIALS[UCHAR_MAX + 1] = {
        [0 ... 0x1f] = true, ['"'] = true, ['\\'] = true, [0x7f] = true, [0xc2 ... 0xf4] = true,
};

/* "\uXXXX", twice for a character beyond the first plane. */
static void json_append_escape(GString *out, uint32_t c)
{
        if (c > 0xffff)
                g_string_append_printf(out, "\\u%04x", 0xd800 + ((c - 0x10000) >> 10));
        g_string_append_printf(out, "\\u%04x", c > 0xffff ? 0xdc00 + ((c - 0x10000) & 0x3ff) : c);
}

/* The bytes of the character at TEXT, of N bytes, if it is one of several bytes and hidden; else 0.
 */
static size_t text_hidden(const char *text, size_t n, uint32_t *ret_c)
{
        const size_t n_bytes = utf8_sequence((const uint8_t *)text, n, ret_c);

        return n_bytes > 1 && printable_is_hidden(*ret_c) ? n_bytes : 0;
}

void json_append_text(GString *out, const char *text, size_t n)
{
        static const char HEX[] = "0123456789abcdef";
        size_t i, begin = 0, n_hidden;
        uint32_t hidden;

        g_string_append_c(out, '"');
        for (i = json_plain_start(text, n); i < n; i++) {
                unsigned char c = (unsigned char)text[i];

                if (!SPECIALS[c])
                        continue;
                if (c >= 0x80) {
                        n_hidden = text_hidden(text + i, n - i, &hidden);
                        if (!n_hidden)
                                continue;
                        json_append_bytes(out, text + begin, i - begin);
                        json_append_escape(out, hidden);
                        begin = i + n_hidden;
                        i = begin - 1;
                        continue;
                }
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

void json_append_document(GString *out, const char *text, size_t n)
{
        size_t i, begin = 0, n_hidden;
        uint32_t hidden;

        for (i = 0; i < n; i++) {
                if ((unsigned char)text[i] < 0xc2 ||
                    !(n_hidden = text_hidden(text + i, n - i, &hidden)))
                        continue;
                json_append_bytes(out, text + begin, i - begin);
                json_append_escape(out, hidden);
                begin = i + n_hidden;
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

/* With at least so many digits. */
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
