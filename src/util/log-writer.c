/* SPDX-License-Identifier: MIT */
#include "util/log-writer.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static bool is_journal;

static GLogWriterOutput log_writer_write(GLogLevelFlags level, const GLogField *fields, gsize n,
                                         gpointer data)
{
        const char *domain = NULL;
        gsize i;

        for (i = 0; i < n; i++)
                if (!strcmp(fields[i].key, "GLIB_DOMAIN"))
                        domain = fields[i].value;
        if (g_log_writer_default_would_drop(level, domain) ||
            (is_journal && g_log_writer_journald(level, fields, n, data) == G_LOG_WRITER_HANDLED))
                return G_LOG_WRITER_HANDLED;
        return g_log_writer_standard_streams(level, fields, n, data);
}

void log_writer_init(void)
{
        is_journal = g_log_writer_is_journald(STDERR_FILENO);
        g_log_set_writer_func(log_writer_write, NULL, NULL);
}
