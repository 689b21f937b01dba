/* SPDX-License-Identifier: MIT */
#include "util/printable-string.h"

#include "util/printable.h"

bool text_is_plain(const char *text)
{
        for (; *text; text++)
                if (*text < 0x20 || *text > 0x7e)
                        return false;
        return true;
}

void printable_append(GString *out, const char *text)
{
        char escape[PRINTABLE_SIZE];
        const char *piece;
        size_t n_taken, n;

        for (; (n_taken = printable_next(text, escape, &piece, &n)); text += n_taken)
                g_string_append_len(out, piece, (gssize)n);
}

char *text_printable(const char *text)
{
        GString *printable = g_string_new(NULL);

        printable_append(printable, text);
        return g_string_free(printable, FALSE);
}
