/* SPDX-License-Identifier: MIT */
#include "profile/label.h"

#include <string.h>

/* Fewer characters have no use. */
#define N_CELLS_MIN 4

#define NO_BRACKET UINT32_MAX

/* For each closing bracket of TEXT[0, N) the position of its opening one, or NO_BRACKET. For
 * opening brackets, the next outer one that is still open. Linear in N. The caller frees it. */
static uint32_t *brackets_match(const char *text, size_t n)
{
        uint32_t *begins = g_new(uint32_t, MAX(n, 1)), open = NO_BRACKET;
        size_t i;

        for (i = 0; i < n; i++) {
                begins[i] = open;
                if (text[i] == '(' || text[i] == '<' || text[i] == '[')
                        open = (uint32_t)i;
                else if ((text[i] == ')' || text[i] == '>' || text[i] == ']') && open != NO_BRACKET)
                        open = begins[open];
        }
        return begins;
}

/* The position of the bracket that TEXT[N - 1] closes, or N. */
static size_t bracket_begin(const uint32_t *begins, size_t n)
{
        return begins[n - 1] == NO_BRACKET ? n : begins[n - 1];
}

/* The beginning of the last word of TEXT[0, N): after the last dot outside of brackets. */
static size_t word_begin(const char *text, size_t n, const uint32_t *begins)
{
        size_t i = n;

        while (i > 0 && text[i - 1] != '.') {
                size_t begin = strchr(")>]", text[i - 1]) ? bracket_begin(begins, i) : i;

                i = begin < i ? begin : i - 1;
        }
        return i;
}

void label_short(const Frame *frame, size_t *ret_begin, size_t *ret_end)
{
        const char *name = frame->name;
        size_t begin, end = strlen(name);
        g_autofree uint32_t *begins = NULL;

        *ret_begin = 0;
        *ret_end = end;
        if (frame->kind != FRAME_MANAGED || end == 0 || end >= NO_BRACKET)
                return;
        begins = brackets_match(name, end);
        /* Without the parameters. */
        if (name[end - 1] == ')')
                end = bracket_begin(begins, end);
        begin = word_begin(name, end, begins);
        if (begin == end)
                return;
        /* Type..ctor */
        if (begin > 1 && name[begin - 2] == '.')
                begin--;
        if (begin > 1)
                begin = word_begin(name, begin - 1, begins);
        if (begin < end) {
                *ret_begin = begin;
                *ret_end = end;
        }
}

static size_t cells_of(gunichar c)
{
        /* East Asian characters take two cells, as most pictures do. */
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
