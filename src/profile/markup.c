/* SPDX-License-Identifier: MIT */
#include "profile/markup.h"

#include "util/json-text.h"

#include <string.h>

typedef struct GraphText {
        const char *name;
        const char *text; /* without a NUL */
        size_t n;
} GraphText;

/* The files in src/profile/graph, made by embed.py. */
#include "graph-texts.inc"

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

void script_append_string(GString *out, const char *text)
{
        g_autoptr(GString) json = g_string_new(NULL);
        const char *at;

        json_append_string(json, text);
        for (at = json->str; *at; at++)
                if (*at == '<' || *at == '>' || *at == '&')
                        g_string_append_printf(out, "\\u%04x", *at);
                else
                        g_string_append_c(out, *at);
}

/* The text of a file, N bytes. Static. */
static const char *resource_text(const char *name, size_t *ret_n)
{
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(GRAPH_TEXTS); i++)
                if (!strcmp(GRAPH_TEXTS[i].name, name)) {
                        *ret_n = GRAPH_TEXTS[i].n;
                        return GRAPH_TEXTS[i].text;
                }
        g_assert_not_reached();
}

void resource_append(GString *out, const char *name)
{
        size_t n;
        const char *text = resource_text(name, &n);

        g_string_append_len(out, text, (gssize)n);
}
