/* SPDX-License-Identifier: MIT */
#include "profile/markup.h"

#include "graph-resources.h"
#include "util/json-text.h"

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

const char *resource_text(const char *name, size_t *ret_n)
{
        g_autofree char *path = g_strconcat("/org/clrsym/graph/", name, NULL);
        g_autoptr(GBytes) bytes = g_resource_lookup_data(graph_get_resource(), path,
                                                         G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

        g_assert(bytes);
        return g_bytes_get_data(bytes, ret_n); /* static: it outlives BYTES */
}

void resource_append(GString *out, const char *name)
{
        size_t n;
        const char *text = resource_text(name, &n);

        g_string_append_len(out, text, (gssize)n);
}
