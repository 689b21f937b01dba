/* SPDX-License-Identifier: MIT */
#include "cli/symbol-text.h"

static clrsym_style the_style = CLRSYM_STYLE_CSHARP;

void symbol_text_set_style(clrsym_style style)
{
        the_style = style;
}

/* Most names are shorter: one call is enough for them. */
#define ROOM 256

void symbol_text_append(GString *out, const clrsym_body *body)
{
        gsize begin = out->len, n;

        g_string_set_size(out, begin + ROOM);
        n = clrsym_symbol(body, the_style, out->str + begin, ROOM);
        g_string_set_size(out, begin + n);
        if (n >= ROOM)
                clrsym_symbol(body, the_style, out->str + begin, n + 1);
}
