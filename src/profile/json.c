/* SPDX-License-Identifier: MIT */
#include "profile/json.h"

#include <stdbool.h>

static bool is_plain(char c)
{
        return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

void json_append(GString *out, const char *text)
{
        g_string_append_c(out, '"');
        while (*text) {
                const char *begin = text;
                gunichar c;

                while (is_plain(*text))
                        text++;
                g_string_append_len(out, begin, text - begin);
                if (!*text)
                        break;
                c = g_utf8_get_char(text);
                text = g_utf8_next_char(text);
                /* Two surrogates for what UTF-16 has no single unit for. */
                if (c >= 0x10000)
                        g_string_append_printf(out, "\\u%04x\\u%04x", 0xd7c0 + (c >> 10),
                                               0xdc00 + (c & 0x3ff));
                else
                        g_string_append_printf(out, "\\u%04x", c);
        }
        g_string_append_c(out, '"');
}

void json_append_number(GString *out, uint64_t number)
{
        char text[20], *end = text + sizeof(text), *p = end;

        do
                *--p = (char)('0' + number % 10);
        while (number /= 10);
        g_string_append_len(out, p, end - p);
}
