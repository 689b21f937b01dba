/* SPDX-License-Identifier: MIT */
#include "session/verb.h"

#include "daemon/proc.h"
#include "session/buffers.h"
#include "session/command-line.h"
#include "session/manager.h"
#include "session/session-error.h"
#include "session/size-text.h"
#include "session/tracing.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
        EXIT_DONE,
        EXIT_FAILED,
        EXIT_USAGE,
};

#define DEFAULT_NAME "clrsym"
/* What a live session's relay daemon keeps of each user, for feeders that are away. */
#define DEFAULT_LIVE_DISK (UINT64_C(2) << 30)

typedef struct StartOptions {
        gboolean is_live, is_forced;
        char *output, *disk, *buffer_size, *name, *relay_output;
        char **track;
} StartOptions;

static int fail(const GError *error)
{
        fprintf(stderr, "clrsym: %s\n", error->message);
        return EXIT_FAILED;
}

/* PIDS is "1,2,3", of our namespace; LTTng wants them as the processes see themselves. */
static bool add_tracked(const char *pids, GArray *track, GError **error)
{
        g_auto(GStrv) words = g_strsplit_set(pids, ", ", -1);
        guint i;

        for (i = 0; words[i]; i++) {
                guint64 pid;
                ProcInfo info;

                if (!*words[i])
                        continue;
                if (!g_ascii_string_to_unsigned(words[i], 10, 1, INT32_MAX, &pid, NULL) ||
                    !proc_read((pid_t)pid, &info)) {
                        g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED,
                                    "--track %s: there is no such process, or it may not be looked "
                                    "into: pgrep -a dotnet lists some",
                                    words[i]);
                        return false;
                }
                g_array_append_val(track, info.levels[info.n_levels - 1].pid);
        }
        return true;
}

static bool check_output(const char *output, char **ret_path, GError **error)
{
        g_autofree char *path = g_canonicalize_filename(output, NULL);
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);

        if (directory && g_dir_read_name(directory)) {
                g_set_error(error, SESSION_ERROR, SESSION_ERROR_FAILED,
                            "%s is not empty: give another --output", path);
                return false;
        }
        *ret_path = g_steal_pointer(&path);
        return true;
}

/* NULL, or what is wrong with the usage (static). */
static const char *read_sizes(const StartOptions *options, Settings *settings)
{
        if (options->disk && !size_from_text(options->disk, &settings->disk))
                return "--disk: not a size like 500M or 2G";
        if (options->buffer_size &&
            (!size_from_text(options->buffer_size, &settings->buffer_size) ||
             settings->buffer_size < 4096 || settings->buffer_size > UINT64_C(1) << 30 ||
             (settings->buffer_size & (settings->buffer_size - 1))))
                return "--buffer-size: not a power of two from 4K to 1G";
        return NULL;
}

static void tell_started(const Settings *settings, const ManagerStarted *started,
                         const char *buffers)
{
        g_autofree char *url = settings_url(settings), *disk = NULL;

        if (started->sessiond)
                printf("lttng-sessiond: started\n");
        if (started->relayd)
                printf("lttng-relayd: started, on 127.0.0.1, writes to %s\n",
                       settings->relay_output);
        if (started->relay_user)
                printf("lttng-relayd: that of %s, writes to %s\n", started->relay_user,
                       settings->relay_output ? settings->relay_output : "where it likes");
        printf("session %s: started\n", settings->name);
        if (settings->is_live)
                printf("  live: %s\n", url);
        else
                printf("  output: %s\n", settings->output);
        printf("  buffers: %s\n", buffers);
        if (settings->disk) {
                disk = disk_estimate(settings->disk);
                printf("  disk: %s\n", disk);
        } else {
                printf("  disk: no limit: give --disk for one\n");
        }
        if (settings->is_live)
                printf("next: clrsym feed --session %s\n", settings->name);
        else
                printf("in the end: clrsym session stop %s, then clrsym ps --trace %s\n",
                       settings->name, settings->output);
}

static int run_start(const CommandLine *line, const StartOptions *options, GError **error)
{
        g_autoptr(Settings) settings = settings_new(options->name ? options->name : DEFAULT_NAME);
        g_autofree char *buffers_text = NULL;
        const char *wrong = NULL;
        g_auto(ManagerStarted) started = {0};
        Buffers buffers;
        guint i;

        if (options->is_live && options->output)
                wrong = "--live and --output: one of them, not both";
        else if (!settings_is_name(settings->name))
                wrong = "--name: letters, digits, and . _ - behind the first of them";
        else
                wrong = read_sizes(options, settings);
        if (wrong)
                return command_line_fail(line, wrong);
        settings->is_live = !options->output;
        if (settings->is_live && !options->disk)
                settings->disk = DEFAULT_LIVE_DISK;
        for (i = 0; options->track && options->track[i]; i++)
                if (!add_tracked(options->track[i], settings->track, error))
                        return EXIT_FAILED;
        if (options->output && !check_output(options->output, &settings->output, error))
                return EXIT_FAILED;
        buffers = buffers_new(settings->buffer_size);
        if (!buffers_check(&buffers, "/dev/shm", &buffers_text, error)) {
                if (!options->is_forced)
                        return EXIT_FAILED;
                buffers_text = g_strdup_printf("%s", (*error)->message);
                g_clear_error(error);
        }
        if (!manager_start(settings, options->relay_output, &started, error))
                return EXIT_FAILED;
        tell_started(settings, &started, buffers_text);
        return EXIT_DONE;
}

static int start_main(int argc, char **argv)
{
        StartOptions options = {0};
        const GOptionEntry entries[] = {
                {"live", 0, 0, G_OPTION_ARG_NONE, &options.is_live,
                 "through lttng-relayd, for clrsym feed (the default)", NULL},
                {"output", 'o', 0, G_OPTION_ARG_FILENAME, &options.output, "record it there",
                 "DIR"},
                {"track", 0, 0, G_OPTION_ARG_STRING_ARRAY, &options.track,
                 "only these processes; may be given several times", "PID[,PID...]"},
                {"disk", 0, 0, G_OPTION_ARG_STRING, &options.disk,
                 "most that the trace of one user's programs may take (live: 2G)", "SIZE"},
                {"buffer-size", 0, 0, G_OPTION_ARG_STRING, &options.buffer_size,
                 "of each sub-buffer (1M)", "SIZE"},
                {"name", 0, 0, G_OPTION_ARG_STRING, &options.name, "of the session (clrsym)",
                 "NAME"},
                {"relay-output", 0, 0, G_OPTION_ARG_FILENAME, &options.relay_output,
                 "where an lttng-relayd that has to be started writes to", "DIR"},
                {"force", 'f', 0, G_OPTION_ARG_NONE, &options.is_forced,
                 "also if the buffers take much of /dev/shm", NULL},
                {NULL},
        };
        const CommandLine line = {
                .program = "clrsym session start",
                .summary = "Starts a tracing session with the events that tell where .NET code is.",
                .entries = entries,
        };
        g_autoptr(GError) error = NULL;
        g_autofree char **arguments = NULL;
        CommandLineResult result = command_line_read(&line, argc, argv, &arguments);
        int code = EXIT_USAGE;

        if (result == COMMAND_LINE_HELP)
                code = EXIT_DONE;
        else if (result == COMMAND_LINE_GO)
                code = run_start(&line, &options, &error);
        if (error)
                fail(error);
        g_free(options.output);
        g_free(options.disk);
        g_free(options.buffer_size);
        g_free(options.name);
        g_free(options.relay_output);
        g_strfreev(options.track);
        return code;
}

static int stop_main(int argc, char **argv)
{
        const GOptionEntry entries[] = {{NULL}};
        const CommandLine line = {
                .program = "clrsym session stop",
                .arguments = "[NAME]",
                .max_arguments = 1,
                .summary = "Ends a session that clrsym started, and the LTTng daemons that were "
                           "started for it.",
                .entries = entries,
        };
        g_autoptr(Settings) settings = NULL;
        g_autofree char **arguments = NULL;
        g_autoptr(GError) error = NULL;
        CommandLineResult result = command_line_read(&line, argc, argv, &arguments);

        if (result != COMMAND_LINE_GO)
                return result == COMMAND_LINE_HELP ? EXIT_DONE : EXIT_USAGE;
        if (!manager_stop(arguments[0], &settings, &error))
                return fail(error);
        printf("session %s: stopped\n", settings->name);
        if (settings->is_live && settings->relay_output)
                printf("  its trace is left below %s\n", settings->relay_output);
        else if (settings->output)
                printf("  its trace: clrsym ps --trace %s\n", settings->output);
        return EXIT_DONE;
}

static json_t *describe(const TracingSession *session, const Settings *settings)
{
        json_t *object =
                json_pack("{s:s, s:b, s:b, s:b, s:b, s:s}", "name", session->name, "active",
                          session->is_active, "live", session->is_live, "ours", settings != NULL,
                          "dotnet", tracing_has_dotnet(session), "path", session->path);
        uint64_t n_discarded, n_lost;

        tracing_losses(session, &n_discarded, &n_lost);
        json_object_set_new(object, "discarded_events", json_integer((json_int_t)n_discarded));
        json_object_set_new(object, "lost_packets", json_integer((json_int_t)n_lost));
        if (settings && settings->is_live) {
                g_autofree char *url = settings_url(settings);

                json_object_set_new(object, "url", json_string(url));
                if (settings->relay_output)
                        json_object_set_new(object, "relay_output",
                                            json_string(settings->relay_output));
        }
        return object;
}

static void print_row(const json_t *row, bool is_json)
{
        char *text;

        if (is_json) {
                text = json_dumps(row, JSON_COMPACT);
                puts(text);
                free(text);
                return;
        }
        printf("%-20s %-7s %-8s %-7s %" JSON_INTEGER_FORMAT " events lost  %s\n",
               json_string_value(json_object_get(row, "name")),
               json_is_true(json_object_get(row, "active")) ? "active" : "stopped",
               json_is_true(json_object_get(row, "live")) ? "live" : "recorded",
               json_is_true(json_object_get(row, "ours")) ? "clrsym" : "other",
               json_integer_value(json_object_get(row, "discarded_events")),
               json_is_true(json_object_get(row, "dotnet")) ? "" : "(no .NET events)");
}

static const Settings *settings_of(const GPtrArray *ours, const char *name)
{
        guint i;

        for (i = 0; i < ours->len; i++)
                if (!strcmp(((const Settings *)ours->pdata[i])->name, name))
                        return ours->pdata[i];
        return NULL;
}

static int list_main(int argc, char **argv)
{
        gboolean is_json = FALSE;
        const GOptionEntry entries[] = {
                {"json", 'j', 0, G_OPTION_ARG_NONE, &is_json, "one JSON object a line", NULL},
                {NULL},
        };
        const CommandLine line = {
                .program = "clrsym session list",
                .summary = "Lists the sessions of the session daemon.",
                .entries = entries,
        };
        g_autoptr(GPtrArray) ours = NULL, sessions = NULL;
        g_autofree char **arguments = NULL;
        g_autoptr(GError) error = NULL;
        CommandLineResult result = command_line_read(&line, argc, argv, &arguments);
        guint i;

        if (result != COMMAND_LINE_GO)
                return result == COMMAND_LINE_HELP ? EXIT_DONE : EXIT_USAGE;
        ours = manager_list(&error);
        if (!ours)
                return fail(error);
        /* Without a session daemon there are none. */
        sessions = tracing_has_daemon(&error) ? tracing_list(&error) : NULL;
        if (error)
                return fail(error);
        for (i = 0; sessions && i < sessions->len; i++) {
                const TracingSession *session = sessions->pdata[i];
                json_t *row = describe(session, settings_of(ours, session->name));

                print_row(row, is_json);
                json_decref(row);
        }
        for (i = 0; i < ours->len; i++) {
                const Settings *settings = ours->pdata[i];

                if (!sessions || !tracing_find(sessions, settings->name))
                        fprintf(stderr,
                                "clrsym: session %s is gone, its session daemon was replaced: "
                                "clrsym session stop %s\n",
                                settings->name, settings->name);
        }
        return EXIT_DONE;
}

static int mend_main(int argc, char **argv)
{
        gboolean is_quiet = FALSE;
        const GOptionEntry entries[] = {
                {"quiet", 'q', 0, G_OPTION_ARG_NONE, &is_quiet, "say only what was done", NULL},
                {NULL},
        };
        static const char *const HEALTH[] = {
                [MANAGER_WELL] = "is well",
                [MANAGER_MENDED] = "was made anew",
                [MANAGER_WAITS] = "cannot be mended now",
                [MANAGER_NOT_OURS] = "is no live session that clrsym started",
        };
        const CommandLine line = {
                .program = "clrsym session mend",
                .arguments = "[NAME]",
                .max_arguments = 1,
                .summary = "Makes a live session anew whose LTTng daemons have died, and the "
                           "daemons.",
                .entries = entries,
        };
        g_autofree char **arguments = NULL;
        g_autofree char *what = NULL;
        g_autoptr(GError) error = NULL;
        CommandLineResult result = command_line_read(&line, argc, argv, &arguments);
        ManagerHealth health;
        const char *name;

        if (result != COMMAND_LINE_GO)
                return result == COMMAND_LINE_HELP ? EXIT_DONE : EXIT_USAGE;
        name = arguments[0] ? arguments[0] : DEFAULT_NAME;
        if (!manager_mend(name, &health, &what, &error))
                return fail(error);
        if (what && !(health == MANAGER_WAITS && is_quiet))
                fprintf(stderr, "clrsym: session %s %s: %s\n", name, HEALTH[health], what);
        else if (!is_quiet)
                printf("session %s %s\n", name, HEALTH[health]);
        return health == MANAGER_WAITS ? EXIT_FAILED : EXIT_DONE;
}

static const struct {
        const char *name;
        int (*main)(int argc, char **argv);
        const char *help;
} SUBS[] = {
        {"start", start_main, "start a session with the events that tell where .NET code is"},
        {"stop", stop_main, "end it, and the daemons that were started for it"},
        {"list", list_main, "list the sessions"},
        {"mend", mend_main, "make a live one anew whose LTTng daemons have died"},
};

static void print_usage(FILE *file)
{
        size_t i;

        fprintf(file, "Usage: clrsym session start|stop|list|mend [OPTION...]\n\n");
        for (i = 0; i < G_N_ELEMENTS(SUBS); i++)
                fprintf(file, "  %-6s %s\n", SUBS[i].name, SUBS[i].help);
        fprintf(file, "\n  -h, %-20s  this\n", "--help");
}

int session_main(int argc, char **argv)
{
        size_t i;

        if (argc < 2) {
                print_usage(stderr);
                return EXIT_USAGE;
        }
        if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h")) {
                print_usage(stdout);
                return EXIT_DONE;
        }
        for (i = 0; i < G_N_ELEMENTS(SUBS); i++)
                if (!strcmp(argv[1], SUBS[i].name))
                        return SUBS[i].main(argc - 1, argv + 1);
        fprintf(stderr, "clrsym: session: start, stop, list or mend: see clrsym session --help\n");
        return EXIT_USAGE;
}
