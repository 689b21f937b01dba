/* SPDX-License-Identifier: MIT */

/*
 * clrsymd: keeps the code maps of traced .NET processes, fed by babeltrace2, asked by everybody
 */

#include "daemon/server.h"
#include "daemon/systemd.h"

#include <glib-unix.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *arg_ingest;
static char *arg_query;
static char *arg_memory_max;
static gboolean arg_version;

static const GOptionEntry OPTIONS[] = {
        {"ingest", 0, 0, G_OPTION_ARG_FILENAME, &arg_ingest,
         "Socket for feeders (default /run/clrsym/ingest)", "PATH"},
        {"query", 0, 0, G_OPTION_ARG_FILENAME, &arg_query,
         "Socket for questions (default /run/clrsym/query)", "PATH"},
        {"memory-max", 0, 0, G_OPTION_ARG_STRING, &arg_memory_max,
         "Most memory for code maps: 512M, 2G (default 1G, 0 for no limit)", "SIZE"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &arg_version, "Show the version", NULL},
        {0},
};

/* A budget must hold what one record can need. */
#define MIN_MEMORY     (8u << 20)
#define DEFAULT_MEMORY (UINT64_C(1) << 30)

/* Bytes, or with K, M, G. */
static bool parse_size(const char *text, uint64_t *ret_size)
{
        static const char UNITS[] = "KMG";
        const char *unit;
        char *end;
        guint64 n = g_ascii_strtoull(text, &end, 10);

        if (!g_ascii_isdigit(*text))
                return false;
        unit = *end ? strchr(UNITS, *end) : NULL;
        if (*end && (!unit || end[1]))
                return false;
        return !__builtin_mul_overflow(n, unit ? UINT64_C(1024) << 10 * (unit - UNITS) : 1,
                                       ret_size);
}

/* One line a message, for the journal and for people alike. */
static GLogWriterOutput write_log(GLogLevelFlags level, const GLogField *fields, gsize n_fields,
                                  gpointer unused)
{
        const char *mark = level & G_LOG_LEVEL_ERROR      ? "<2>"
                           : level & G_LOG_LEVEL_CRITICAL ? "<3>"
                           : level & G_LOG_LEVEL_WARNING  ? "<4>"
                                                          : "<6>";
        gsize i;

        if (level & G_LOG_LEVEL_DEBUG)
                return G_LOG_WRITER_HANDLED;
        for (i = 0; i < n_fields; i++)
                if (!g_strcmp0(fields[i].key, "MESSAGE"))
                        fprintf(stderr, "%sclrsymd: %s\n", getenv("JOURNAL_STREAM") ? mark : "",
                                (const char *)fields[i].value);
        return G_LOG_WRITER_HANDLED;
}

typedef struct Daemon {
        GMainLoop *loop;
        Server *server;
} Daemon;

static void on_drained(void *data)
{
        g_main_loop_quit(data);
}

static gboolean on_signal(gpointer data)
{
        Daemon *daemon = data;

        systemd_notify("STOPPING=1");
        server_drain(daemon->server, on_drained, daemon->loop);
        return G_SOURCE_REMOVE;
}

int main(int argc, char **argv)
{
        g_autoptr(GOptionContext) options = g_option_context_new(NULL);
        g_autoptr(GError) error = NULL;
        uint64_t memory_max = DEFAULT_MEMORY;
        Daemon daemon;

        g_log_set_writer_func(write_log, NULL, NULL);
        g_option_context_set_summary(options,
                                     "Names addresses in .NET processes: keeps their code maps, "
                                     "and answers on a Unix socket.");
        g_option_context_add_main_entries(options, OPTIONS, NULL);
        if (!g_option_context_parse(options, &argc, &argv, &error) || argc > 1) {
                fprintf(stderr, "clrsymd: %s (see clrsymd --help)\n",
                        error ? error->message : "takes no arguments");
                return 2;
        }
        if (arg_version) {
                printf("clrsymd %s\n", CLRSYM_VERSION);
                return 0;
        }
        if (arg_memory_max &&
            (!parse_size(arg_memory_max, &memory_max) || (memory_max && memory_max < MIN_MEMORY))) {
                fprintf(stderr, "clrsymd: --memory-max takes a size from 8M on, not '%s'\n",
                        arg_memory_max);
                return 2;
        }
        daemon.server = server_new(arg_ingest ? arg_ingest : "/run/clrsym/ingest",
                                   arg_query ? arg_query : "/run/clrsym/query", &error);
        if (!daemon.server) {
                fprintf(stderr, "clrsymd: %s\n", error->message);
                return 1;
        }
        server_set_memory_max(daemon.server, memory_max);
        daemon.loop = g_main_loop_new(NULL, FALSE);
        g_unix_signal_add(SIGTERM, on_signal, &daemon);
        g_unix_signal_add(SIGINT, on_signal, &daemon);
        systemd_notify("READY=1\nSTATUS=Serving");
        g_main_loop_run(daemon.loop);
        server_free(daemon.server);
        g_main_loop_unref(daemon.loop);
        g_free(arg_ingest);
        g_free(arg_query);
        g_free(arg_memory_max);
        return 0;
}
