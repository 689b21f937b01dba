/* SPDX-License-Identifier: MIT */
#include "util/message.h"

#include "util/printable-string.h"

#include <stdarg.h>
#include <stdio.h>

void message_print(const char *program, const char *format, ...)
{
        g_autofree char *text = NULL, *printable = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        printable = text_printable(text);
        fprintf(stderr, "%s: %s\n", program, printable);
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
