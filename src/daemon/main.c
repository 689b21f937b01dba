/* SPDX-License-Identifier: MIT */

/*
 * clrsymd: keeps the code maps of traced .NET processes, and answers questions about them
 */

#include "daemon/config.h"
#include "daemon/log.h"
#include "daemon/server.h"
#include "offline/trace-mode.h"
#include "util/fd.h"
#include "util/libc-extras.h"
#include "util/runtime-path.h"
#include "util/systemd.h"

#include <glib.h>
#include <glib-unix.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* s between updates of the status that the service manager shows. */
#define STATUS_INTERVAL 5

static char *arg_ingest;
static char *arg_query;
static char *arg_config;
static char *arg_memory_max;
static char *arg_metrics_file;
static char *arg_state;
static gboolean arg_version;

static const GOptionEntry OPTIONS[] = {
        {"ingest", 0, 0, G_OPTION_ARG_FILENAME, &arg_ingest,
         "Socket for feeders (default /run/clrsym/ingest, or $XDG_RUNTIME_DIR/clrsym/ingest)",
         "PATH"},
        {"query", 0, 0, G_OPTION_ARG_FILENAME, &arg_query,
         "Socket for questions (default /run/clrsym/query, or $XDG_RUNTIME_DIR/clrsym/query)",
         "PATH"},
        {"config", 0, 0, G_OPTION_ARG_FILENAME, &arg_config,
         "Configuration, with FILE.d/*.conf (default " CONFIG_FILE ")", "FILE"},
        {"memory-max", 0, 0, G_OPTION_ARG_STRING, &arg_memory_max,
         "Most memory for code maps: 512M, 2G (default 1G, 0 for no limit)", "SIZE"},
        {"metrics-file", 0, 0, G_OPTION_ARG_FILENAME, &arg_metrics_file,
         "Write metrics to PATH, and keep them current (default: nowhere)", "PATH"},
        {"state", 0, 0, G_OPTION_ARG_FILENAME, &arg_state,
         "Keep what is known in DIR across restarts (default: nowhere)", "DIR"},
        {"version", 0, 0, G_OPTION_ARG_NONE, &arg_version, "Show the version", NULL},
        {0},
};

/* Options that override the configuration file. */
static const struct {
        const char *option;
        const char *key;
        char **text;
} OVERRIDES[] = {
        {"--memory-max", "MemoryMax", &arg_memory_max},
        {"--metrics-file", "MetricsFile", &arg_metrics_file},
        {"--state", "StateDirectory", &arg_state},
};

static void make_absolute(char **path)
{
        char *relative = *path;

        if (!relative || !*relative)
                return;
        *path = g_canonicalize_filename(relative, NULL);
        g_free(relative);
}

static void set_default_path(char **path, const char *name)
{
        if (!*path)
                *path = runtime_path_service(name);
}

/* The remedy for ERROR, to follow its message, or "". */
static const char *permission_hint(const GError *error)
{
        if (geteuid() != 0 && !runtime_directory_own() &&
            (g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_ACCES) ||
             g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_PERM)))
                return ": set XDG_RUNTIME_DIR, as a login does, or give --ingest and --query";
        return "";
}

/* The directory made by the service manager; the first, if there are several. */
static char *given_state_directory(void)
{
        g_auto(GStrv) paths = g_strsplit(g_getenv("STATE_DIRECTORY") ?: "", ":", 2);

        return paths[0] && *paths[0] ? g_strdup(paths[0]) : NULL;
}

static bool load_config(Config *ret_config, GError **error)
{
        g_auto(Config) config = {0};
        size_t i;

        make_absolute(&arg_metrics_file);
        make_absolute(&arg_state);
        if (!config_load(arg_config, &config, error))
                return false;
        for (i = 0; i < G_N_ELEMENTS(OVERRIDES); i++)
                if (*OVERRIDES[i].text && !config_set(&config, OVERRIDES[i].key, *OVERRIDES[i].text,
                                                      OVERRIDES[i].option, error))
                        return false;
        if (!config.state_directory && !arg_state)
                config.state_directory = given_state_directory();
        *ret_config = config;
        config = (Config){0};
        return true;
}

/* Bytes; less than a chunk of bodies. */
#define MMAP_THRESHOLD (64 << 10)

typedef struct Daemon {
        GMainLoop *loop;
        Server *server;
        char *status; /* owned: as last sent to the service manager */
        bool is_stopping;
} Daemon;

/* Sends STATE, if any, to the service manager, and the status if it has changed. */
static void main_notify(Daemon *daemon, const char *state)
{
        g_autofree char *status = server_status(daemon->server), *text = NULL;

        if (!*state && !g_strcmp0(status, daemon->status))
                return;
        text = g_strdup_printf("%sSTATUS=%s", state, status);
        systemd_notify(text);
        g_free(daemon->status);
        daemon->status = g_steal_pointer(&status);
}

static gboolean on_status(gpointer data)
{
        Daemon *daemon = data;

        if (!daemon->is_stopping)
                main_notify(daemon, "");
        return G_SOURCE_CONTINUE;
}

static gboolean on_reload(gpointer data)
{
        Daemon *daemon = data;
        g_auto(Config) config = {0};
        g_autoptr(GError) error = NULL;

        if (daemon->is_stopping)
                return G_SOURCE_CONTINUE;
        systemd_notify_reloading();
        if (load_config(&config, &error)) {
                server_configure(daemon->server, &config);
                g_message("the configuration was read again");
        } else {
                g_warning("%s: the configuration stays as it was", error->message);
        }
        main_notify(daemon, "READY=1\n");
        return G_SOURCE_CONTINUE;
}

static void on_drained(void *data)
{
        g_main_loop_quit(data);
}

static gboolean main_on_signal(gpointer data)
{
        Daemon *daemon = data;

        if (!daemon->is_stopping) {
                daemon->is_stopping = true;
                systemd_notify("STOPPING=1\nSTATUS=Ending");
                server_drain(daemon->server, on_drained, daemon->loop);
        }
        return G_SOURCE_REMOVE;
}

int main(int argc, char **argv)
{
        g_autoptr(GOptionContext) options = g_option_context_new(NULL);
        g_autoptr(GError) error = NULL;
        g_auto(Config) config = {0};
        g_autoptr(GMainLoop) loop = NULL;
        Daemon daemon = {0};

        log_init();
        if (trace_mode_is_wanted(argc, argv))
                return trace_mode_main(argc, argv);
        g_option_context_set_summary(options,
                                     "Names addresses in .NET processes: keeps their code maps, "
                                     "and answers on a Unix socket.");
        g_option_context_add_main_entries(options, OPTIONS, NULL);
        if (!g_option_context_parse(options, &argc, &argv, &error) || argc > 1) {
                g_critical("%s (see clrsymd --help)",
                           error ? error->message : "takes no arguments");
                return 2;
        }
        if (arg_version) {
                printf("clrsymd %s\n", CLRSYM_VERSION);
                return 0;
        }
        if (!load_config(&config, &error)) {
                g_critical("%s", error->message);
                return 2;
        }
        /*
         * Returns the memory of long replies and large tables to the system when it is freed.
         * Otherwise malloc keeps it in pieces after the first time.
         */
        mallopt(M_MMAP_THRESHOLD, MMAP_THRESHOLD);
        /* MaxFeeders= and MaxClients= may be more than the usual 1024. */
        fd_raise_limit();
        /* Writing to a file at its size limit is then an ordinary error. */
        signal(SIGXFSZ, SIG_IGN);
        /*
         * Signals wait for the main loop, so that everything made until then is removed at the end.
         */
        daemon.loop = loop = g_main_loop_new(NULL, FALSE);
        g_unix_signal_add(SIGTERM, main_on_signal, &daemon);
        g_unix_signal_add(SIGINT, main_on_signal, &daemon);
        g_unix_signal_add(SIGHUP, on_reload, &daemon);
        set_default_path(&arg_ingest, RUNTIME_INGEST);
        set_default_path(&arg_query, RUNTIME_QUERY);
        daemon.server = server_new(arg_ingest, arg_query, &config, &error);
        if (!daemon.server) {
                g_critical("%s%s", error->message, permission_hint(error));
                return 1;
        }
        g_timeout_add_seconds(STATUS_INTERVAL, on_status, &daemon);
        main_notify(&daemon, "READY=1\n");
        systemd_watchdog_start();
        g_main_loop_run(loop);
        server_free(daemon.server);
        g_free(daemon.status);
        g_free(arg_ingest);
        g_free(arg_query);
        g_free(arg_config);
        g_free(arg_memory_max);
        g_free(arg_metrics_file);
        g_free(arg_state);
        return 0;
}
