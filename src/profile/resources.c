/* SPDX-License-Identifier: MIT */
#include "profile/resources.h"

#include "graph-resources.h"

const char *resource_text(const char *name, size_t *ret_n)
{
        g_autofree char *path = g_strconcat("/org/clrsym/graph/", name, NULL);
        g_autoptr(GBytes) bytes = g_resource_lookup_data(graph_get_resource(), path,
                                                         G_RESOURCE_LOOKUP_FLAGS_NONE, NULL);

        g_assert(bytes);
        return g_bytes_get_data(bytes, ret_n); /* the program's, which outlives BYTES */
}

void resource_append(GString *out, const char *name)
{
        size_t n;
        const char *text = resource_text(name, &n);

        g_string_append_len(out, text, (gssize)n);
}
