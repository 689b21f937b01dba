/* SPDX-License-Identifier: MIT */
#include "feed/verb.h"

#include "feed/supervisor.h"
#include "feed/state-file.h"
#include "session/command-line.h"
#include "session/manager.h"

#include <glib-unix.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
        EXIT_DONE,
        EXIT_FAILED,
        EXIT_USAGE,
};

#define SYSTEM_SOCKET "/run/clrsym/ingest"

static int fail(const char *reason)
{
        fprintf(stderr, "clrsym: %s\n", reason);
        return EXIT_FAILED;
}

static char *find_socket(void)
{
        const char *given = g_getenv("CLRSYM_INGEST"), *runtime = g_getenv("XDG_RUNTIME_DIR");

        if (given && *given)
                return g_strdup(given);
        if (runtime && *runtime) {
                g_autofree char *path = g_build_filename(runtime, "clrsym", "ingest", NULL);

                if (access(path, F_OK) == 0)
                        return g_steal_pointer(&path);
        }
        return g_strdup(SYSTEM_SOCKET);
}

/* The only live session that was started here; else "clrsym". */
static char *default_session(void)
{
        g_autoptr(GPtrArray) list = manager_list(NULL);
        const char *name = NULL;
        unsigned n = 0;
        guint i;

        for (i = 0; list && i < list->len; i++) {
                const Settings *settings = list->pdata[i];

                if (!settings->is_live)
                        continue;
                name = settings->name;
                n++;
        }
        return g_strdup(n == 1 ? name : "clrsym");
}

/* net://HOST[:PORT]/host/TARGET/SESSION. False: it is none. */
static bool parse_url(const char *url, char **ret_session, uint16_t *ret_port)
{
        g_autofree char *host = NULL, *session = NULL;
        g_auto(GStrv) parts = NULL;
        guint64 port = RELAY_DEFAULT_LIVE;
        const char *colon;

        if (!g_str_has_prefix(url, "net://") && !g_str_has_prefix(url, "net4://"))
                return false;
        parts = g_strsplit(strstr(url, "://") + 3, "/", -1);
        if (g_strv_length(parts) != 4 || strcmp(parts[1], "host") || !*parts[2] || !*parts[3])
                return false;
        colon = strchr(parts[0], ':');
        host = g_strndup(parts[0], colon ? (gsize)(colon - parts[0]) : strlen(parts[0]));
        if (!*host ||
            (colon && !g_ascii_string_to_unsigned(colon + 1, 10, 1, UINT16_MAX, &port, NULL)))
                return false;
        *ret_session = g_strdup(parts[3]);
        /* Of one on another machine there are no files here. */
        *ret_port =
                !strcmp(host, "localhost") || g_str_has_prefix(host, "127.") ? (uint16_t)port : 0;
        return true;
}

static gboolean on_signal(gpointer data);

typedef struct Run {
        GMainLoop *loop;
        Supervisor *supervisor;
} Run;

static void on_ended(void *data)
{
        g_main_loop_quit(((Run *)data)->loop);
}

static gboolean on_signal(gpointer data)
{
        Run *run = data;

        supervisor_stop(run->supervisor, on_ended, run);
        return G_SOURCE_CONTINUE;
}

static int run_feeder(const SupervisorSettings *settings)
{
        g_autoptr(GError) error = NULL;
        Run run = {.loop = g_main_loop_new(NULL, FALSE)};
        json_t *other = state_file_read(settings->session);

        if (other) {
                g_autofree char *text = g_strdup_printf(
                        "session %s has a feeder already, process %" JSON_INTEGER_FORMAT,
                        settings->session, json_integer_value(json_object_get(other, "pid")));

                json_decref(other);
                g_main_loop_unref(run.loop);
                return fail(text);
        }
        run.supervisor = supervisor_new(settings, &error);
        if (run.supervisor) {
                g_unix_signal_add(SIGINT, on_signal, &run);
                g_unix_signal_add(SIGTERM, on_signal, &run);
                g_main_loop_run(run.loop);
                supervisor_free(run.supervisor);
        }
        g_main_loop_unref(run.loop);
        return error ? fail(error->message) : EXIT_DONE;
}

static char *url_of(const char *session, uint16_t *ret_port)
{
        g_autoptr(Settings) settings = manager_find(session, NULL);

        if (!settings || !settings->is_live) {
                g_clear_pointer(&settings, settings_free);
                settings = settings_new(session);
                settings->live_port = RELAY_DEFAULT_LIVE;
        }
        *ret_port = settings->live_port;
        return settings_url(settings);
}

int feed_main(int argc, char **argv)
{
        g_autofree char *session = NULL, *socket = NULL, *relay_output = NULL, *url = NULL;
        g_autofree char *named = NULL;
        gboolean jit_events = FALSE;
        const GOptionEntry entries[] = {
                {"session", 0, 0, G_OPTION_ARG_STRING, &named,
                 "the live session of this machine (the one that clrsym started)", "NAME"},
                {"socket", 0, 0, G_OPTION_ARG_FILENAME, &socket,
                 "the daemon's ingest socket (" SYSTEM_SOCKET ")", "PATH"},
                {"relay-output", 0, 0, G_OPTION_ARG_FILENAME, &relay_output,
                 "where lttng-relayd writes to, if that is not found out", "DIR"},
                {"jit-events", 0, 0, G_OPTION_ARG_NONE, &jit_events,
                 "also the events about the JIT's work", NULL},
                {NULL},
        };
        const CommandLine line = {
                .program = "clrsym feed",
                .arguments = "[URL]",
                .max_arguments = 1,
                .summary = "Feeds a live session into clrsymd until it is stopped: again when a "
                           "part of the way fails, and\nwith what was emitted meanwhile.",
                .entries = entries,
        };
        g_autofree char **arguments = NULL;
        SupervisorSettings settings = {0};
        CommandLineResult result = command_line_read(&line, argc, argv, &arguments);

        if (result != COMMAND_LINE_GO)
                return result == COMMAND_LINE_HELP ? EXIT_DONE : EXIT_USAGE;
        if (arguments[0] && named)
                return command_line_fail(&line, "--session NAME and URL: one of them");
        if (arguments[0]) {
                if (!parse_url(arguments[0], &session, &settings.live_port))
                        return command_line_fail(
                                &line, "the URL is not net://HOST[:PORT]/host/TARGET/SESSION");
                url = g_strdup(arguments[0]);
        } else {
                session = named ? g_strdup(named) : default_session();
                if (!settings_is_name(session))
                        return command_line_fail(&line, "--session: no session has such a name");
                url = url_of(session, &settings.live_port);
        }
        if (!socket)
                socket = find_socket();
        settings.session = session;
        settings.url = url;
        settings.relay_output = relay_output;
        settings.socket = socket;
        settings.jit_events = jit_events;
        return run_feeder(&settings);
}
