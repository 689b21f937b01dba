/* SPDX-License-Identifier: MIT */
#include "profile/printable.h"

#include <string.h>

static bool is_hidden(gunichar c)
{
        /* The last two of each plane, and some of the first, are no characters. */
        if ((c & 0xfffe) == 0xfffe || (c >= 0xfdd0 && c <= 0xfdef))
                return true;
        switch (g_unichar_type(c)) {
        case G_UNICODE_CONTROL:
        case G_UNICODE_FORMAT:
        case G_UNICODE_LINE_SEPARATOR:
        case G_UNICODE_PARAGRAPH_SEPARATOR:
        case G_UNICODE_SURROGATE:
                return true;
        default:
                return false;
        }
}

bool text_is_plain(const char *text)
{
        for (; *text; text++)
                if (*text < 0x20 || *text > 0x7e)
                        return false;
        return true;
}

void printable_append(GString *out, const char *text)
{
        const char *end = text + strlen(text), *next;

        for (; text < end; text = next) {
                gunichar c = g_utf8_get_char_validated(text, end - text);

                if (c == (gunichar)-1 || c == (gunichar)-2) {
                        g_string_append(out, "\\u{fffd}");
                        next = text + 1;
                        continue;
                }
                next = g_utf8_next_char(text);
                if (is_hidden(c))
                        g_string_append_printf(out, "\\u{%x}", c);
                else
                        g_string_append_len(out, text, next - text);
        }
}

char *text_printable(const char *text)
{
        GString *printable = g_string_new(NULL);

        printable_append(printable, text);
        return g_string_free(printable, FALSE);
}
