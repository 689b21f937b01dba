/* SPDX-License-Identifier: MIT */
#include "cli/verbs.h"
#include "event/boot-id.h"
#include "feed/path-feed.h"
#include "feed/state-file.h"
#include "feed/supervisor.h"
#include "lttng/session-control.h"
#include "util/message.h"
#include "util/runtime-path.h"

#include <errno.h>
#include <fcntl.h>
#include <glib-unix.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* For errors that end the program with a message. */
#define FEED_ERROR (g_quark_from_static_string("clrsym-feed"))

/* The live session that clrsym started, if it is the only one; else "clrsym". */
static char *session_find_default(void)
{
        g_autoptr(GPtrArray) list = session_control_list(NULL);
        const char *name = NULL;
        unsigned n = 0;
        guint i;

        for (i = 0; list && i < list->len; i++) {
                const SessionSettings *settings = list->pdata[i];

                if (!settings->is_live)
                        continue;
                name = settings->name;
                n++;
        }
        return g_strdup(n == 1 ? name : "clrsym");
}

/* The address of a live session. Members are owned. */
typedef struct FeedAddress {
        char *host, *target, *session;
        uint16_t port;
        bool is_local;
} FeedAddress;

static void feed_address_clear(FeedAddress *address)
{
        g_free(address->host);
        g_free(address->target);
        g_free(address->session);
        *address = (FeedAddress){0};
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(FeedAddress, feed_address_clear)

/* False if URL does not have the form net://HOST[:PORT]/host/TARGET/SESSION. */
static bool url_parse(const char *url, FeedAddress *ret_address)
{
        g_autofree char *host = NULL;
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
        feed_address_clear(ret_address);
        /* This machine cannot read the files of a relay daemon on another one. */
        ret_address->is_local = !strcmp(host, "localhost") || g_str_has_prefix(host, "127.");
        ret_address->host = g_steal_pointer(&host);
        ret_address->port = (uint16_t)port;
        ret_address->target = g_strdup(parts[2]);
        ret_address->session = g_strdup(parts[3]);
        return true;
}

typedef struct FeedRun {
        GMainLoop *loop;        /* owned */
        Supervisor *supervisor; /* owned */
} FeedRun;

static void feed_run_on_ended(void *data)
{
        g_main_loop_quit(((FeedRun *)data)->loop);
}

static gboolean feed_run_on_signal(gpointer data)
{
        FeedRun *run = data;

        supervisor_stop(run->supervisor, feed_run_on_ended, run);
        return G_SOURCE_CONTINUE;
}

static bool feed_run(const SupervisorSettings *settings, GError **error)
{
        json_auto_t *other = state_file_read(settings->session);
        g_autofree char *boot_id = boot_id_read(error);
        g_autoptr(GMainLoop) loop = NULL;
        FeedRun run;

        if (!boot_id)
                return false;
        if (other) {
                g_set_error(error, FEED_ERROR, 0,
                            "session %s has a feeder already, process %" JSON_INTEGER_FORMAT,
                            settings->session, json_integer_value(json_object_get(other, "pid")));
                return false;
        }
        loop = g_main_loop_new(NULL, FALSE);
        run = (FeedRun){.loop = loop, .supervisor = supervisor_new(settings)};
        g_unix_signal_add(SIGINT, feed_run_on_signal, &run);
        g_unix_signal_add(SIGTERM, feed_run_on_signal, &run);
        g_main_loop_run(loop);
        supervisor_free(run.supervisor);
        return true;
}

/* The URL of a session of this machine; the caller frees it. */
static char *session_url(const char *session)
{
        g_autoptr(SessionSettings) settings = session_control_find(session, NULL);

        if (!settings || !settings->is_live) {
                g_clear_pointer(&settings, session_settings_free);
                settings = session_settings_new(session);
                settings->live_port = RELAY_DEFAULT_LIVE;
        }
        return session_settings_url(settings);
}

/* True if the argument is a file or a directory, not a URL. */
static bool is_path(const char *argument)
{
        return argument && !strstr(argument, "://");
}

const char *verb_feed_check(const Options *options)
{
        const char *argument = *options->arguments;
        g_auto(FeedAddress) address = {0};

        if (argument && options->session)
                return "give --session NAME, URL or PATH, one of them";
        if (is_path(argument) && options->relay_output)
                return "--relay-output is not for a path";
        if (argument && !is_path(argument) && !url_parse(argument, &address))
                return "the URL is not net://HOST[:PORT]/host/TARGET/SESSION";
        if (options->session && !session_settings_is_name(options->session))
                return "--session: a session cannot have that name";
        return NULL;
}

static bool feed_path(const Options *options, const char *socket, GError **error)
{
        const char *path = *options->arguments;
        PathFeedResult result;

        if (!path_feed_run(socket, path, options_has(options, OPTION_JIT_EVENTS), &result, error))
                return false;
        message_print("clrsym feed",
                      "%s: %" PRIu64 " events of .NET code; the daemon had %" PRIu64 " of them",
                      path, result.n_records, result.n_known);
        if (result.n_gaps)
                message_print("clrsym feed", "%s: events are missing at %" PRIu64 " times", path,
                              result.n_gaps);
        return true;
}

static bool feed_session(const Options *options, const char *socket, GError **error)
{
        g_autofree char *session = NULL, *url = NULL;
        g_auto(FeedAddress) address = {0};
        SupervisorSettings settings = {
                .relay_output = options->relay_output,
                .socket = socket,
                .jit_events = options_has(options, OPTION_JIT_EVENTS),
        };
        g_autofree char *program = g_file_read_link("/proc/self/exe", NULL);
        const char *repair[] = {program, "session", "repair", "--quiet", NULL, NULL};

        if (*options->arguments) {
                url = g_strdup(*options->arguments);
        } else {
                session = options->session ? g_strdup(options->session) : session_find_default();
                url = session_url(session);
        }
        url_parse(url, &address);
        settings.session = address.session;
        settings.host = address.host;
        settings.port = address.port;
        settings.target = address.target;
        settings.live_port = address.is_local ? address.port : 0;
        repair[G_N_ELEMENTS(repair) - 2] = address.session;
        if (program && settings.live_port)
                settings.repair_command = repair;
        return feed_run(&settings, error);
}

/* FEED takes the path of the daemon's ingest socket. */
static bool feed_daemon(const Options *options,
                        bool (*feed)(const Options *options, const char *socket, GError **error),
                        GError **error)
{
        char *found = options->socket ? NULL : runtime_path_find("CLRSYM_INGEST", RUNTIME_INGEST);
        bool ok = feed(options, options->socket ? options->socket : found, error);

        free(found);
        return ok;
}

bool verb_import(const Options *options, GError **error)
{
        return feed_daemon(options, feed_path, error);
}

bool verb_feed(const Options *options, GError **error)
{
        return feed_daemon(options, is_path(*options->arguments) ? feed_path : feed_session, error);
}
