/* SPDX-License-Identifier: MIT */
#include "util/log-writer.h"

#include "util/printable.h"

#include <errno.h>
#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool is_journal;

/* The text of a field that GLib's own functions have set; NULL: none. */
static const char *log_field(const GLogField *fields, gsize n, const char *key)
{
        gsize i;

        for (i = 0; i < n; i++)
                if (!strcmp(fields[i].key, key) && fields[i].length < 0)
                        return fields[i].value;
        return NULL;
}

/* Prints without an allocation. */
static void log_print(const char *text)
{
        char escape[PRINTABLE_SIZE];
        const char *piece;
        size_t n_taken, n;

        fprintf(stderr, "%s: ", program_invocation_short_name);
        for (; (n_taken = printable_next(text, escape, &piece, &n)) > 0; text += n_taken)
                fwrite(piece, 1, n, stderr);
        fputc('\n', stderr);
}

static GLogWriterOutput log_writer_write(GLogLevelFlags level, const GLogField *fields, gsize n,
                                         gpointer data)
{
        const char *domain = log_field(fields, n, "GLIB_DOMAIN");
        const char *message = log_field(fields, n, "MESSAGE");

        if (g_log_writer_default_would_drop(level, domain) ||
            (is_journal && g_log_writer_journald(level, fields, n, data) == G_LOG_WRITER_HANDLED))
                return G_LOG_WRITER_HANDLED;
        log_print(message ? message : "");
        return G_LOG_WRITER_HANDLED;
}

void log_writer_init(void)
{
        is_journal = g_log_writer_is_journald(STDERR_FILENO);
        g_log_set_writer_func(log_writer_write, NULL, NULL);
}
