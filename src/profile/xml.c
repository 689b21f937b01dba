/* SPDX-License-Identifier: MIT */
#include "profile/xml.h"

static const char *const ENTITIES[] = {
        ['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;", ['"'] = "&quot;", ['\''] = "&#39;",
};

void xml_append(GString *out, const char *text)
{
        for (; *text; text++) {
                unsigned char c = (unsigned char)*text;

                if (c < G_N_ELEMENTS(ENTITIES) && ENTITIES[c])
                        g_string_append(out, ENTITIES[c]);
                else
                        g_string_append_c(out, *text);
        }
}
