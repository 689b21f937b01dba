/* SPDX-License-Identifier: MIT */
#include "symbols/build-id.h"

#include <glib.h>

char *build_id_text(const uint8_t *id, size_t n)
{
        GString *text = g_string_new(NULL);
        size_t i;

        for (i = 0; i < n; i++)
                g_string_append_printf(text, "%02x", id[i]);
        return g_string_free(text, FALSE);
}
