/* SPDX-License-Identifier: MIT */
#include "cli/inlined-frames.h"

#include "cli/line-json.h"
#include "util/json-text.h"
#include "util/printable-string.h"

/* The name of inlined method I, or NULL; and its line. */
static char *inlined_symbol(const InlinedFrames *frames, const clrsym_answer *answer, uint32_t i,
                            clrsym_line_status *ret_found, clrsym_line *ret_line)
{
        clrsym_body body;
        char *text;
        size_t n;

        *ret_found =
                clrsym_lines_find_inlined(frames->lines, frames->pid, answer, i, &body, ret_line);
        if (!body.name)
                return NULL;
        n = clrsym_symbol(&body, frames->style, NULL, 0) + 1;
        text = g_malloc(n);
        clrsym_symbol(&body, frames->style, text, n);
        return text;
}

void inlined_frames_append_text(const InlinedFrames *frames, GString *out,
                                const clrsym_answer *answer, bool has_lines)
{
        uint32_t i;

        for (i = 0; i < answer->n_inlined; i++) {
                clrsym_line_status found;
                clrsym_line line;
                g_autofree char *symbol = inlined_symbol(frames, answer, i, &found, &line);

                g_string_append(out, i ? " in ~" : ", inlined ~");
                g_string_append(out, symbol ? symbol : "?");
                if (!has_lines || found != CLRSYM_LINE_FOUND)
                        continue;
                g_string_append(out, " at ");
                printable_append(out, line.file);
                g_string_append_printf(out, ":%" G_GUINT32_FORMAT ":%" G_GUINT32_FORMAT, line.line,
                                       line.column);
        }
}

void inlined_frames_append_json(const InlinedFrames *frames, GString *out,
                                const clrsym_answer *answer)
{
        uint32_t i;

        if (!answer->n_inlined)
                return;
        g_string_append(out, ",\"inlined_frames\":[");
        for (i = 0; i < answer->n_inlined; i++) {
                clrsym_line_status found;
                clrsym_line line;
                g_autofree char *symbol = inlined_symbol(frames, answer, i, &found, &line);

                g_string_append(out, i ? ",{\"symbol\":" : "{\"symbol\":");
                json_append_string(out, symbol);
                line_json_append(out, found, &line);
                g_string_append_c(out, '}');
        }
        g_string_append_c(out, ']');
}
