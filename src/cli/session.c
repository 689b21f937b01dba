/* SPDX-License-Identifier: MIT */
#include "cli/output.h"
#include "cli/preload.h"
#include "cli/verbs.h"
#include "feed/state-file.h"
#include "lttng/buffers.h"
#include "lttng/session-control.h"
#include "lttng/errors.h"
#include "lttng/sessiond.h"
#include "util/message.h"
#include "util/proc.h"
#include "util/size-text.h"

#include <string.h>

#define DEFAULT_NAME "clrsym"
/* Disk space that a live session's relay daemon keeps for each user while feeders are absent. */
#define DEFAULT_LIVE_DISK (UINT64_C(2) << 30)

/*
 * PIDS is "1,2,3", in the caller's pid namespace. LTTng needs each pid in the process's own
 * namespace.
 */
static bool track_add(GArray *track, const char *pids, GError **error)
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
                        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                                    "--track %s: there is no such process, or you may not inspect "
                                    "it: pgrep -a dotnet lists some",
                                    words[i]);
                        return false;
                }
                g_array_append_val(track, info.levels[info.n_levels - 1].pid);
        }
        return true;
}

static bool output_directory_check(const char *output, char **ret_path, GError **error)
{
        g_autofree char *path = g_canonicalize_filename(output, NULL);
        g_autoptr(GDir) directory = g_dir_open(path, 0, NULL);

        if (directory && g_dir_read_name(directory)) {
                g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                            "%s is not empty: give another --output", path);
                return false;
        }
        *ret_path = g_steal_pointer(&path);
        return true;
}

static void print_started(const SessionSettings *settings, const SessionStarted *started,
                          const char *buffers)
{
        g_autofree char *url = session_settings_url(settings), *disk = NULL;

        if (started->sessiond)
                output_print("lttng-sessiond: started\n");
        if (started->relayd)
                output_print("lttng-relayd: started, on 127.0.0.1, writes to %s\n",
                             settings->relay_output);
        if (started->relay_user)
                output_print("lttng-relayd: that of %s, writes to %s\n", started->relay_user,
                             settings->relay_output ? settings->relay_output
                                                    : "an unknown directory");
        output_print("session %s: started\n", settings->name);
        if (settings->is_live)
                output_print("  live: %s\n", url);
        else
                output_print("  output: %s\n", settings->output);
        output_print("  buffers: %s\n", buffers);
        if (settings->disk) {
                disk = disk_estimate(settings->disk);
                output_print("  disk: %s\n", disk);
        } else {
                output_print("  disk: no limit: --disk sets one\n");
        }
        preload_note();
        if (settings->is_live)
                output_print("next: clrsym feed --session %s\n", settings->name);
        else
                output_print("at the end: clrsym session stop %s, then clrsym ps --trace %s\n",
                             settings->name, settings->output);
}

const char *verb_session_start_check(const Options *options)
{
        if (options_has(options, OPTION_LIVE) && options->output)
                return "give --live or --output, not both";
        if (options->name && !session_settings_is_name(options->name))
                return "--name: letters, digits, and . _ - (but not . or - first)";
        return NULL;
}

bool verb_session_start(const Options *options, GError **error)
{
        g_autoptr(SessionSettings) settings =
                session_settings_new(options->name ? options->name : DEFAULT_NAME);
        g_autofree char *buffers_text = NULL;
        g_auto(SessionStarted) started = {0};
        Buffers buffers;
        guint i;

        settings->disk = options->disk;
        settings->buffer_size = options->buffer_size;
        settings->format = options->trace_format;
        settings->is_live = !options->output;
        settings->keeps_traces = options_has(options, OPTION_KEEP);
        if (settings->is_live && !options_has(options, OPTION_DISK))
                settings->disk = DEFAULT_LIVE_DISK;
        for (i = 0; options->track && i < options->track->len; i++)
                if (!track_add(settings->track, options->track->pdata[i], error))
                        return false;
        if (options->output && !output_directory_check(options->output, &settings->output, error))
                return false;
        buffers = buffers_new(settings->buffer_size);
        if (!buffers_check(&buffers, "/dev/shm", &buffers_text, error)) {
                if (!options_has(options, OPTION_FORCE))
                        return false;
                buffers_text = g_strdup((*error)->message);
                g_clear_error(error);
        }
        if (!session_control_start(settings, options->relay_output, &started, error))
                return false;
        session_control_clean(state_file_has_read);
        print_started(settings, &started, buffers_text);
        return true;
}

bool verb_session_stop(const Options *options, GError **error)
{
        g_autoptr(SessionSettings) settings = NULL;

        if (!session_control_stop(*options->arguments, &settings, error))
                return false;
        session_control_clean(state_file_has_read);
        output_print("session %s: stopped\n", settings->name);
        if (settings->is_live && settings->relay_output)
                output_print("  its trace remains below %s%s\n", settings->relay_output,
                             settings->keeps_traces ? "" : " for an hour");
        else if (settings->output)
                output_print("  its trace: clrsym ps --trace %s\n", settings->output);
        return true;
}

static json_t *session_to_json(const LttngSession *session, const SessionSettings *settings)
{
        json_t *object =
                json_pack("{s:s, s:b, s:b, s:b, s:b, s:s}", "name", session->name, "active",
                          session->is_active, "live", session->is_live, "ours", settings != NULL,
                          "dotnet", lttng_session_has_dotnet(session), "path", session->path);
        uint64_t n_discarded, n_lost;

        lttng_session_losses(session, &n_discarded, &n_lost);
        json_object_set_new(object, "discarded_events", json_integer((json_int_t)n_discarded));
        json_object_set_new(object, "lost_packets", json_integer((json_int_t)n_lost));
        if (settings && settings->is_live) {
                g_autofree char *url = session_settings_url(settings);

                json_object_set_new(object, "url", json_string(url));
                if (settings->relay_output)
                        json_object_set_new(object, "relay_output",
                                            json_string(settings->relay_output));
        }
        return object;
}

static void session_print_row(const json_t *row, bool is_json)
{
        if (is_json) {
                output_json(row);
                return;
        }
        output_print("%-20s %-7s %-8s %-7s %" JSON_INTEGER_FORMAT " events lost  %s\n",
                     json_string_value(json_object_get(row, "name")),
                     json_is_true(json_object_get(row, "active")) ? "active" : "stopped",
                     json_is_true(json_object_get(row, "live")) ? "live" : "recorded",
                     json_is_true(json_object_get(row, "ours")) ? "clrsym" : "other",
                     json_integer_value(json_object_get(row, "discarded_events")),
                     json_is_true(json_object_get(row, "dotnet")) ? "" : "(no .NET events)");
}

static const SessionSettings *settings_list_find(const GPtrArray *ours, const char *name)
{
        guint i;

        for (i = 0; i < ours->len; i++)
                if (!strcmp(((const SessionSettings *)ours->pdata[i])->name, name))
                        return ours->pdata[i];
        return NULL;
}

bool verb_session_list(const Options *options, GError **error)
{
        g_autoptr(GPtrArray) ours = NULL, sessions = NULL;
        guint i;

        ours = session_control_list(error);
        if (!ours)
                return false;
        /* Without a session daemon there are no sessions. */
        sessions = sessiond_is_running(error) ? sessiond_list_sessions(error) : NULL;
        if (*error)
                return false;
        for (i = 0; sessions && i < sessions->len; i++) {
                const LttngSession *session = sessions->pdata[i];
                json_auto_t *row =
                        session_to_json(session, settings_list_find(ours, session->name));

                session_print_row(row, options_has(options, OPTION_JSON));
        }
        for (i = 0; i < ours->len; i++) {
                const SessionSettings *settings = ours->pdata[i];

                if (!sessions || !lttng_session_find(sessions, settings->name))
                        message_print("clrsym",
                                      "lttng-sessiond does not have session %s: clrsym session "
                                      "%s %s",
                                      settings->name, settings->is_live ? "repair" : "stop",
                                      settings->name);
        }
        return true;
}

bool verb_session_repair(const Options *options, GError **error)
{
        static const char *const RESULTS[] = {
                [REPAIR_NOT_NEEDED] = "is well",
                [REPAIR_DONE] = "was restarted",
                [REPAIR_WAITS] = "cannot be restarted now",
                [REPAIR_NOT_OURS] = "is not a live session that clrsym started",
        };
        const char *name = *options->arguments ? *options->arguments : DEFAULT_NAME;
        bool is_quiet = options_has(options, OPTION_QUIET);
        g_autofree char *what = NULL;
        SessionRepair repair;

        if (!session_control_repair(name, options_has(options, OPTION_RESTART), &repair, &what,
                                    error))
                return false;
        if (repair != REPAIR_NOT_OURS)
                session_control_clean(state_file_has_read);
        if (what && !(repair == REPAIR_WAITS && is_quiet))
                message_print("clrsym", "session %s %s: %s", name, RESULTS[repair], what);
        else if (!is_quiet)
                output_print("session %s %s\n", name, RESULTS[repair]);
        return repair != REPAIR_WAITS;
}
