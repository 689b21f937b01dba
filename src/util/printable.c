/* SPDX-License-Identifier: MIT */
#include "util/printable.h"

#include "util/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct CodeRange {
        uint32_t first, last;
} CodeRange;

/* Unicode's general categories Cc, Cf, Zl and Zp, and the noncharacters of the first plane.
 * Unassigned characters are not in it: they can be letters in a later version. */
static const CodeRange HIDDEN[] = {
        {0x0, 0x1f},        {0x7f, 0x9f},       {0xad, 0xad},       {0x600, 0x605},
        {0x61c, 0x61c},     {0x6dd, 0x6dd},     {0x70f, 0x70f},     {0x890, 0x891},
        {0x8e2, 0x8e2},     {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},
        {0x2060, 0x2064},   {0x2066, 0x206f},   {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},
        {0xfff9, 0xfffb},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0001, 0xe0001}, {0xe0020, 0xe007f},
};

bool printable_is_hidden(uint32_t c)
{
        size_t i;

        if (c >= 0x20 && c < 0x7f)
                return false;
        /* The last two of each plane are not characters. */
        if ((c & 0xfffe) == 0xfffe)
                return true;
        for (i = 0; i < sizeof(HIDDEN) / sizeof(HIDDEN[0]) && c >= HIDDEN[i].first; i++)
                if (c <= HIDDEN[i].last)
                        return true;
        return false;
}

size_t printable_next(const char *text, char escape[PRINTABLE_SIZE], const char **ret_piece,
                      size_t *ret_n)
{
        uint32_t c;
        size_t n;

        if (!*text)
                return 0;
        n = utf8_decode(text, &c);
        if (n && !printable_is_hidden(c)) {
                *ret_piece = text;
                *ret_n = n;
                return n;
        }
        *ret_piece = escape;
        *ret_n = (size_t)snprintf(escape, PRINTABLE_SIZE, "\\u{%" PRIx32 "}", n ? c : 0xfffd);
        return n ? n : 1;
}

void text_buffer_put(TextBuffer *text, const char *part, size_t n)
{
        /* The NUL needs one byte. */
        if (text->n_kept == text->n && text->size > text->n_kept && n < text->size - text->n_kept) {
                memcpy(text->buffer + text->n_kept, part, n);
                text->n_kept += n;
        }
        text->n += n;
}

void text_buffer_put_printable(TextBuffer *text, const char *part)
{
        char escape[PRINTABLE_SIZE];
        const char *piece;
        size_t n_taken, n;

        for (; (n_taken = printable_next(part, escape, &piece, &n)); part += n_taken)
                text_buffer_put(text, piece, n);
}

void text_buffer_end(TextBuffer *text)
{
        if (text->size)
                text->buffer[text->n_kept] = '\0';
}
