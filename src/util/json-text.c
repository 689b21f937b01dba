/* SPDX-License-Identifier: MIT */
#include "util/json-text.h"

#include <limits.h>
#include <stdbool.h>
#include <string.h>

/* Characters that are escaped in a text. */
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
        for (i = 0; i < n; i++) {
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

void json_append_string(GString *out, const char *text)
{
        if (text)
                json_append_text(out, text, strlen(text));
        else
                json_append_bytes(out, "null", 4);
}

void json_append_hex(GString *out, uint64_t u)
{
        char text[20], *p = text + sizeof(text);

        *--p = '"';
        do {
                *--p = "0123456789abcdef"[u & 15];
                u >>= 4;
        } while (u);
        *--p = 'x';
        *--p = '0';
        g_string_append_c(out, '"');
        json_append_bytes(out, p, (size_t)(text + sizeof(text) - p));
}

static char *json_append_digits(char *end, uint64_t u)
{
        do
                *--end = (char)('0' + u % 10);
        while (u /= 10);
        return end;
}

void json_append_u64(GString *out, uint64_t u)
{
        char text[20], *p = json_append_digits(text + sizeof(text), u);

        json_append_bytes(out, p, (size_t)(text + sizeof(text) - p));
}

void json_append_time(GString *out, uint64_t time)
{
        char text[32], *end = text + sizeof(text), *p;

        *--end = '"';
        p = json_append_digits(end, time % 1000000000);
        while (end - p < 9)
                *--p = '0';
        *--p = '.';
        p = json_append_digits(p, time / 1000000000);
        *--p = '"';
        json_append_bytes(out, p, (size_t)(text + sizeof(text) - p));
}
