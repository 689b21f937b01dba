/* SPDX-License-Identifier: MIT */
#include "feed/verb.h"

#include "feed/supervisor.h"
#include "feed/state-file.h"
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

static int fail_usage(const char *reason)
{
        fprintf(stderr, "clrsym: %s: see clrsym feed --help\n", reason);
        return EXIT_USAGE;
}

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

#define SUMMARY                                                                                    \
        "Feeds a live session into clrsymd, until it is stopped: again when a part of the way\n"   \
        "fails, and with what was emitted meanwhile."

/* As the other verbs have it. */
static int print_usage(const GOptionEntry *entries)
{
        printf("Usage: clrsym feed [OPTION...] [URL]\n\n%s\n\n", SUMMARY);
        for (; entries->long_name; entries++) {
                const char *argument = entries->arg_description;
                g_autofree char *option = g_strconcat(entries->long_name, argument ? " " : "",
                                                      argument ? argument : "", NULL);

                printf("      --%-18s %s\n", option, entries->description);
        }
        printf("  -h, --%-18s %s\n", "help", "this");
        return fflush(stdout) == 0 ? 0 : 1;
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
        GOptionContext *context = g_option_context_new("[URL]");
        g_autoptr(GError) error = NULL;
        SupervisorSettings settings = {0};
        bool ok;

        if (argc == 2 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
                g_option_context_free(context);
                return print_usage(entries);
        }
        g_option_context_set_help_enabled(context, FALSE);
        g_option_context_add_main_entries(context, entries, NULL);
        ok = g_option_context_parse(context, &argc, &argv, &error);
        g_option_context_free(context);
        if (!ok)
                return fail_usage(error->message);
        if (argc > 2 || (argc == 2 && named))
                return fail_usage("one of --session NAME and URL");
        if (argc == 2) {
                if (!parse_url(argv[1], &session, &settings.live_port))
                        return fail_usage("the URL is not net://HOST[:PORT]/host/TARGET/SESSION");
                url = g_strdup(argv[1]);
        } else {
                session = named ? g_strdup(named) : default_session();
                if (!settings_is_name(session))
                        return fail_usage("--session: that can be no session's name");
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
