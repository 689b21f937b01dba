/* SPDX-License-Identifier: MIT */
#include "perf/folded-text.h"

#include <string.h>

const char *folded_annotation(NamedKind kind)
{
        return kind == NAMED_MANAGED ? "_[j]" : kind == NAMED_KERNEL ? "_[k]" : "";
}

/* The begin of the longest suffix of TEXT[0, N) with characters of SET only. */
static size_t run_begin(const char *text, size_t n, const char *set)
{
        while (n > 0 && strchr(set, text[n - 1]))
                n--;
        return n;
}

void folded_escape_frame(char *text)
{
        size_t n = strlen(text), number = run_begin(text, n, "0123456789."), i;

        for (i = 0; i < n; i++)
                if (text[i] == ';')
                        text[i] = ':';
        for (i = run_begin(text, number, " "); i < number; i++)
                text[i] = '_';
        for (i = 0; text[i] == ' '; i++)
                text[i] = '_';
}

void folded_escape_comm(char *text)
{
        folded_escape_frame(text);
        if (*text == '#')
                *text = '_';
}
