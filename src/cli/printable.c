/* SPDX-License-Identifier: MIT */
#include "cli/printable.h"

void printable_append(GString *out, const char *text)
{
        for (; *text; text = g_utf8_next_char(text)) {
                gunichar c = g_utf8_get_char(text);
                GUnicodeType type = g_unichar_type(c);

                /* FORMAT has the marks that turn the direction of writing. */
                if (g_unichar_isprint(c) && type != G_UNICODE_FORMAT &&
                    type != G_UNICODE_LINE_SEPARATOR && type != G_UNICODE_PARAGRAPH_SEPARATOR)
                        g_string_append_unichar(out, c);
                else
                        g_string_append_printf(out, "\\u{%x}", c);
        }
}
