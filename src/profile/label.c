/* SPDX-License-Identifier: MIT */
#include "profile/label.h"

#include <string.h>

/* Fewer characters tell nothing. */
#define N_CELLS_MIN 4

/* Where the bracket at TEXT[N - 1] was opened, or N. */
static size_t opened(const char *text, size_t n)
{
        size_t i, depth = 0;

        for (i = n; i-- > 0;) {
                if (text[i] == ')' || text[i] == '>' || text[i] == ']')
                        depth++;
                else if (text[i] == '(' || text[i] == '<' || text[i] == '[')
                        if (--depth == 0)
                                return i;
        }
        return n;
}

/* Where the last word of TEXT[0, N) begins: after the last dot that is in no bracket. */
static size_t word_begin(const char *text, size_t n)
{
        size_t i = n;

        while (i > 0 && text[i - 1] != '.') {
                size_t begin = strchr(")>]", text[i - 1]) ? opened(text, i) : i;

                i = begin < i ? begin : i - 1;
        }
        return i;
}

void label_short(const Frame *frame, size_t *ret_begin, size_t *ret_end)
{
        const char *name = frame->name;
        size_t begin, end = strlen(name);

        *ret_begin = 0;
        *ret_end = end;
        if (frame->kind != FRAME_MANAGED)
                return;
        /* Without the parameters. */
        if (name[end - 1] == ')')
                end = opened(name, end);
        begin = word_begin(name, end);
        if (begin == end)
                return;
        /* Type..ctor */
        if (begin > 1 && name[begin - 2] == '.')
                begin--;
        if (begin > 1)
                begin = word_begin(name, begin - 1);
        if (begin < end) {
                *ret_begin = begin;
                *ret_end = end;
        }
}

static size_t cells_of(gunichar c)
{
        /* Those of East Asia are twice as wide; so are most pictures. */
        return c < 0x1100 ? 1 : 2;
}

size_t label_cells(const char *text, size_t n)
{
        const char *end = text + n;
        size_t cells = 0;

        for (; text < end; text = g_utf8_next_char(text))
                cells += cells_of(g_utf8_get_char(text));
        return cells;
}

size_t label_utf16_length(const char *text, size_t n)
{
        const char *end = text + n;
        size_t length = 0;

        for (; text < end; text = g_utf8_next_char(text))
                length += g_utf8_get_char(text) < 0x10000 ? 1 : 2;
        return length;
}

void label_append(GString *out, const Frame *frame, size_t cells)
{
        static const char ELLIPSIS[] = "\xe2\x80\xa6";
        const char *mark = frame->is_marked ? " ~" : "", *text, *end;
        size_t begin, short_end, n = strlen(frame->name);

        if (cells < N_CELLS_MIN)
                return;
        cells -= strlen(mark);
        if (label_cells(frame->name, n) <= cells) {
                g_string_append(out, frame->name);
                g_string_append(out, mark);
                return;
        }
        label_short(frame, &begin, &short_end);
        text = frame->name + begin;
        end = frame->name + short_end;
        if (label_cells(text, (size_t)(end - text)) <= cells) {
                g_string_append_len(out, text, end - text);
                g_string_append(out, mark);
                return;
        }
        for (cells--; text < end && cells_of(g_utf8_get_char(text)) <= cells;
             text = g_utf8_next_char(text)) {
                cells -= cells_of(g_utf8_get_char(text));
                g_string_append_unichar(out, g_utf8_get_char(text));
        }
        g_string_append(out, ELLIPSIS);
}
