/* SPDX-License-Identifier: MIT */
#include "cli/terminal.h"

#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define MARK "..."

/* The width of a terminal that does not report it. */
#define DEFAULT_WIDTH 80

unsigned terminal_width(int fd)
{
        struct winsize size;

        if (!isatty(fd))
                return 0;
        return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col ? size.ws_col : DEFAULT_WIDTH;
}

static unsigned columns_of(gunichar c)
{
        return g_unichar_iszerowidth(c) ? 0 : g_unichar_iswide(c) ? 2 : 1;
}

unsigned terminal_columns(const char *text)
{
        unsigned n = 0;

        for (; *text; text = g_utf8_next_char(text))
                n += columns_of(g_utf8_get_char(text));
        return n;
}

void terminal_cut(GString *text, unsigned n_columns)
{
        unsigned n_mark = MIN(strlen(MARK), n_columns), n = 0;
        const char *at = text->str;

        if (terminal_columns(text->str) <= n_columns)
                return;
        while (n + columns_of(g_utf8_get_char(at)) <= n_columns - n_mark) {
                n += columns_of(g_utf8_get_char(at));
                at = g_utf8_next_char(at);
        }
        g_string_truncate(text, (gsize)(at - text->str));
        g_string_append_len(text, MARK, n_mark);
}
