/* SPDX-License-Identifier: MIT */
#include "core/symbol.h"

#include <inttypes.h>
#include <string.h>

/* The "(...)" that ends a signature such as "class System.String  (int32,bool)". */
static const char *arguments(const char *signature)
{
        size_t n = strlen(signature);
        int depth = 0;

        if (!n || signature[n - 1] != ')')
                return NULL;
        while (n-- > 0) {
                depth += signature[n] == ')' ? 1 : signature[n] == '(' ? -1 : 0;
                if (!depth)
                        return signature + n;
        }
        return NULL;
}

/* Printable ASCII, which nearly all names are made of, goes as it is. */
static void append_printable(GString *out, const char *text)
{
        const char *begin = text;

        for (;; text = g_utf8_next_char(text)) {
                gunichar c;

                if (*text >= ' ' && *text <= '~')
                        continue;
                c = *text ? g_utf8_get_char(text) : 0;
                if (c > '~' && g_unichar_isprint(c) && g_unichar_type(c) != G_UNICODE_FORMAT)
                        continue;
                g_string_append_len(out, begin, text - begin);
                if (!c)
                        return;
                g_string_append_printf(out, "\\u{%x}", c);
                begin = g_utf8_next_char(text);
        }
}

void symbol_append(GString *out, const Process *process, const Body *body)
{
        const char *name_space = strtab_text(process->names, body->name_space);
        const char *name = strtab_text(process->names, body->name);
        const char *signature = strtab_text(process->names, body->signature);
        const char *args = signature ? arguments(signature) : NULL;

        if (!name) {
                g_string_append_printf(out, "method 0x%" PRIx64, body->method_id);
                return;
        }
        if (name_space && *name_space) {
                append_printable(out, name_space);
                g_string_append_c(out, '.');
        }
        append_printable(out, name);
        append_printable(out, args ? args : "()");
}
