/* SPDX-License-Identifier: MIT */
#include "cli/symbol-text.h"

/* Most names are shorter: one call is enough for them. */
#define ROOM 256

void symbol_text_append(GString *out, const clrsym_body *body)
{
        gsize begin = out->len, n;

        g_string_set_size(out, begin + ROOM);
        n = clrsym_symbol(body, CLRSYM_STYLE_CLR, out->str + begin, ROOM);
        g_string_set_size(out, begin + n);
        if (n >= ROOM)
                clrsym_symbol(body, CLRSYM_STYLE_CLR, out->str + begin, n + 1);
}
