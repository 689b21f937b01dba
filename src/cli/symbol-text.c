/* SPDX-License-Identifier: MIT */
#include "cli/symbol-text.h"

#include "cli/inlined-frames.h"

#include <string.h>

static const Options *the_options;
static clrsym_lines *the_lines; /* NULL: no type has been named yet */

void symbol_text_set_options(const Options *options)
{
        the_options = options;
}

static clrsym_lines *symbol_text_lines(void)
{
        const GPtrArray *symbols = the_options->symbols;
        bool ok;
        guint i;

        if (the_lines)
                return the_lines;
        ok = clrsym_lines_new(&the_lines) == 0;
        for (i = 0; ok && symbols && i < symbols->len; i++)
                ok = clrsym_lines_add_directory(the_lines, symbols->pdata[i]) == 0;
        if (!ok)
                g_error("no memory left");
        return the_lines;
}

/* Most names are shorter: one call is enough for them. */
#define ROOM 256

void symbol_text_append(GString *out, int32_t pid, const clrsym_body *body)
{
        gsize begin = out->len, n;
        clrsym_body named = *body;

        if (named.type_args || named.tier == CLRSYM_TIER_OPTIMIZED ||
            named.tier == CLRSYM_TIER_READY_TO_RUN ||
            (named.signature &&
             (strchr(named.signature, '!') || strstr(named.signature, "generic ")))) {
                clrsym_lines_set_process(symbol_text_lines(), pid);
                clrsym_lines_name_types(symbol_text_lines(), the_options->trace ? 0 : pid, &named);
        }
        g_string_set_size(out, begin + ROOM);
        n = clrsym_symbol(&named, the_options->style, out->str + begin, ROOM);
        g_string_set_size(out, begin + n);
        if (n >= ROOM)
                clrsym_symbol(&named, the_options->style, out->str + begin, n + 1);
}

void symbol_text_append_inlined(GString *out, int32_t pid, const clrsym_answer *answer,
                                bool has_lines)
{
        InlinedFrames frames = {.pid = the_options->trace ? 0 : pid, .style = the_options->style};

        if (!answer->n_inlined)
                return;
        frames.lines = symbol_text_lines();
        clrsym_lines_set_process(frames.lines, pid);
        inlined_frames_append_text(&frames, out, answer, has_lines);
}
