/* SPDX-License-Identifier: MIT */
#include "cli/line-json.h"

#include "util/json-text.h"

void line_json_append(GString *out, clrsym_line_status found, const clrsym_line *line)
{
        g_autofree char *file = NULL;

        g_string_append(out, ",\"file\":");
        if (found == CLRSYM_LINE_FOUND) {
                file = g_utf8_make_valid(line->file, -1);
                json_append_string(out, file);
                g_string_append_printf(
                        out, ",\"line\":%" G_GUINT32_FORMAT ",\"column\":%" G_GUINT32_FORMAT,
                        line->line, line->column);
        } else {
                g_string_append(out, "null,\"line\":null,\"column\":null");
        }
        g_string_append_printf(out, ",\"line_status\":\"%s\"", clrsym_line_status_name(found));
}
