/* SPDX-License-Identifier: MIT */
#include "client/printable.h"

#include "client/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct CodeRange {
        uint32_t first, last;
} CodeRange;

/* Unicode's general categories Cc, Cf, Zl and Zp, and the noncharacters of the first plane. */
static const CodeRange HIDDEN[] = {
        {0x0000, 0x001f},   {0x007f, 0x009f},   {0x00ad, 0x00ad},   {0x0600, 0x0605},
        {0x061c, 0x061c},   {0x06dd, 0x06dd},   {0x070f, 0x070f},   {0x0890, 0x0891},
        {0x08e2, 0x08e2},   {0x180e, 0x180e},   {0x200b, 0x200f},   {0x2028, 0x202e},
        {0x2060, 0x206f},   {0xfdd0, 0xfdef},   {0xfeff, 0xfeff},   {0xfff0, 0xfffb},
        {0xfffe, 0xffff},   {0x110bd, 0x110bd}, {0x110cd, 0x110cd}, {0x13430, 0x1343f},
        {0x1bca0, 0x1bca3}, {0x1d173, 0x1d17a}, {0xe0001, 0xe007f},
};

static bool is_hidden(uint32_t c)
{
        size_t i;

        if (c >= 0x20 && c < 0x7f)
                return false;
        /* The last two of each plane are no characters. */
        if ((c & 0xfffe) == 0xfffe)
                return true;
        for (i = 0; i < sizeof(HIDDEN) / sizeof(HIDDEN[0]) && c >= HIDDEN[i].first; i++)
                if (c <= HIDDEN[i].last)
                        return true;
        return false;
}

void writer_put(Writer *writer, const char *part, size_t n)
{
        /* One byte is the NUL's. */
        if (writer->n_kept == writer->n && n < writer->size - writer->n_kept &&
            writer->size > writer->n_kept) {
                memcpy(writer->buffer + writer->n_kept, part, n);
                writer->n_kept += n;
        }
        writer->n += n;
}

void writer_put_text(Writer *writer, const char *text)
{
        for (; *text; text++)
                writer_put(writer, text, 1);
}

void writer_put_printable(Writer *writer, const char *text)
{
        while (*text) {
                uint32_t c;
                size_t n = utf8_decode(text, &c);

                if (n && !is_hidden(c)) {
                        writer_put(writer, text, n);
                } else {
                        char escape[16];

                        snprintf(escape, sizeof(escape), "\\u{%" PRIx32 "}", n ? c : 0xfffd);
                        writer_put(writer, escape, strlen(escape));
                }
                text += n ? n : 1;
        }
}

void writer_end(Writer *writer)
{
        if (writer->size)
                writer->buffer[writer->n_kept] = '\0';
}
