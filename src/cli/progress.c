/* SPDX-License-Identifier: MIT */
#include "cli/progress.h"

#include "cli/terminal.h"
#include "util/printable-string.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* A faster read needs no bar, which would only flicker. */
#define PATIENCE_US G_GINT64_CONSTANT(500000)
#define INTERVAL_US G_GINT64_CONSTANT(100000)

enum {
        MIN_WIDTH = 30,
        MAX_WIDTH = 100,
        MIN_BAR = 5,
};

void progress_init(Progress *progress, const char *what)
{
        *progress = (Progress){
                .what = what,
                .start = g_get_monotonic_time(),
                .is_terminal = what && isatty(STDERR_FILENO),
        };
}

/* "Reading my-trace [#######        ]  45% of 1.2 GB", one column short of WIDTH. */
static void append_bar(GString *out, const char *what, double part, uint64_t n_total,
                       unsigned width)
{
        g_autofree char *name = g_path_get_basename(what), *utf8 = g_filename_display_name(name);
        g_autofree char *size = g_format_size(n_total);
        g_autofree char *tail = g_strdup_printf("] %3d%% of %s", (int)(part * 100), size);
        g_autoptr(GString) head = g_string_new("Reading ");
        int n_bar, i;

        printable_append(head, utf8);
        terminal_cut(head, width / 2);
        g_string_append(head, " [");
        n_bar = (int)width - 1 - (int)terminal_columns(head->str) - (int)strlen(tail);
        n_bar = MAX(n_bar, MIN_BAR);
        g_string_append(out, head->str);
        for (i = 0; i < n_bar; i++)
                g_string_append_c(out, i < (int)(part * n_bar) ? '#' : ' ');
        g_string_append(out, tail);
}

static double progress_part(const Progress *progress, uint64_t n_read, uint64_t n_total)
{
        const double part = (double)MIN(n_read, n_total) / (double)n_total;

        return MIN(1, (progress->n_over + part) / MAX(progress->n_readings, 1));
}

int progress_show(uint64_t n_read, uint64_t n_total, void *data)
{
        Progress *progress = data;
        gint64 now;
        g_autoptr(GString) line = NULL;
        unsigned width;

        if (!progress->is_terminal || !n_total)
                return 0;
        now = g_get_monotonic_time();
        if (now - progress->start < PATIENCE_US ||
            (progress->drawn && now - progress->drawn < INTERVAL_US))
                return 0;
        progress->drawn = now;
        width = terminal_width(STDERR_FILENO);
        line = g_string_new("\r");
        append_bar(line, progress->what, progress_part(progress, n_read, n_total), n_total,
                   CLAMP(width, MIN_WIDTH, MAX_WIDTH));
        /* Erases the rest of a longer bar. */
        g_string_append(line, "\033[K");
        fputs(line->str, stderr);
        return 0;
}

void progress_end(Progress *progress)
{
        if (progress->drawn)
                fputs("\r\033[K", stderr);
        progress->drawn = 0;
}

void progress_end_reading(Progress *progress)
{
        progress->n_over++;
        progress_end(progress);
}
