/* SPDX-License-Identifier: MIT */
#include "cli/message.h"

#include "util/printable-string.h"

#include <stdio.h>

void message_print(const char *text)
{
        g_autofree char *printable = text_printable(text);

        fprintf(stderr, "clrsym: %s\n", printable);
}

void message_pass_on(const char *lines)
{
        g_auto(GStrv) each = g_strsplit(lines, "\n", -1);
        size_t i;

        for (i = 0; each[i]; i++) {
                g_autofree char *printable = text_printable(each[i]);

                if (*printable)
                        fprintf(stderr, "%s\n", printable);
        }
}
