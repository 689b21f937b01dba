/* SPDX-License-Identifier: MIT */

/*
 * Checks of the LTTng session, and of its feeder
 */

#include "doctor/doctor.h"
#include "feed/state-file.h"
#include "lttng/buffers.h"
#include "lttng/session-control.h"
#include "lttng/recipe.h"
#include "util/size-text.h"
#include "util/subprocess.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#define VIEWERS_TIMEOUT_S 5
/* Bytes of an event in the buffers: a load of a method with its names has some hundred. */
#define BYTES_PER_EVENT 300
#define MAX_BUFFER_SIZE (UINT64_C(64) << 20)
/* An event must fit into a sub-buffer, and events of the runtime have up to 64 KiB. */
#define MIN_BUFFER_SIZE (UINT64_C(128) << 10)

static const char *session_name(const Doctor *doctor)
{
        return doctor->session && doctor->session->name ? doctor->session->name : "";
}

static const char *session_path(const Doctor *doctor)
{
        return doctor->session && doctor->session->path ? doctor->session->path : "";
}

static bool session_is_live(const Doctor *doctor)
{
        return doctor->session && doctor->session->is_live;
}

/* For a shell; the caller frees it. */
static char *session_quoted_name(const Doctor *doctor)
{
        const char *name = session_name(doctor);

        return session_settings_is_name(name) ? g_strdup(name) : g_shell_quote(name);
}

/* The channel with the runtime's events, or NULL. */
static const SessiondChannel *session_channel(const Doctor *doctor)
{
        const GPtrArray *channels = doctor->session ? doctor->session->channels : NULL;
        guint i, j;

        for (i = 0; channels && i < channels->len; i++) {
                const SessiondChannel *channel = channels->pdata[i];

                for (j = 0; channel->events && j < channel->events->len; j++)
                        if (g_pattern_match_simple(channel->events->pdata[j], RECIPE_MOST_WANTED))
                                return channel;
        }
        return NULL;
}

/* We may not talk to a session daemon, but the process may have one. */
static void no_sessiond_set_finding(const Doctor *doctor, Finding *finding)
{
        const Inspection *inspection = &doctor->inspection;
        const struct passwd *user = inspection->has_uid ? getpwuid(inspection->uid) : NULL;
        g_autofree char *fix = NULL;

        if (inspection->facts.has_own_sessiond && inspection->uid != geteuid()) {
                fix = g_strdup_printf("sudo -u %s clrsym doctor %d", user ? user->pw_name : "USER",
                                      (int)doctor->pid);
                finding_set(finding, FINDING_UNKNOWN, fix,
                            "there is an lttng-sessiond of the user of the process, in %s/.lttng: "
                            "its sessions are unknown",
                            inspection->facts.lttng_home);
        } else if (doctor->sessiond.has_roots) {
                finding_set(finding, FINDING_PROBLEM, "clrsym session start",
                            "only root and the group tracing may use root's lttng-sessiond, and "
                            "you run none");
        } else {
                finding_set(finding, FINDING_PROBLEM, "clrsym session start",
                            "no lttng-sessiond runs that you may use");
        }
}

void check_sessiond(const Doctor *doctor, Finding *finding)
{
        const SessiondState *sessiond = &doctor->sessiond;
        const char *error = sessiond->report.error;

        if (!sessiond->report.is_installed)
                finding_set(finding, FINDING_PROBLEM, "sudo apt install lttng-tools", "%s",
                            error ? error : "LTTng is not installed");
        else if (sessiond->is_unresponsive)
                finding_set(finding, FINDING_PROBLEM, "sudo systemctl restart lttng-sessiond",
                            "lttng-sessiond does not answer");
        else if (sessiond->is_unclear)
                finding_set(finding, FINDING_UNKNOWN, "lttng list",
                            "lttng-sessiond could not be asked: whether one runs is unknown");
        else if (!sessiond->report.has_daemon)
                no_sessiond_set_finding(doctor, finding);
        else
                finding_set(finding, FINDING_OK, NULL, "lttng-sessiond answers (%s)",
                            sessiond->daemon_uid == 0 ? "root's, for all users" : "your own");
}

void check_session(const Doctor *doctor, Finding *finding)
{
        const SessiondReport *report = &doctor->sessiond.report;
        const char *path = session_path(doctor);

        if (!report->has_daemon)
                return;
        if (!report->is_complete)
                finding_set(
                        finding, FINDING_UNKNOWN, "lttng list",
                        "lttng-sessiond does not list its sessions: nothing is known about them");
        else if (!doctor->session)
                finding_set(finding, FINDING_PROBLEM, "clrsym session start",
                            report->sessions && report->sessions->len
                                    ? "no session is active that has the runtime's events"
                                    : "there is no tracing session");
        else if (session_is_live(doctor))
                finding_set(finding, FINDING_OK, NULL, "session %s is active, and live",
                            session_name(doctor));
        else
                finding_set(finding, FINDING_OK, NULL, "session %s is active, and recorded%s%s",
                            session_name(doctor), *path ? ", for --trace " : "", path);
}

/* A session of ours can be for some processes only, by the pids in their own namespaces. */
void check_tracked(const Doctor *doctor, Finding *finding)
{
        const int64_t vpid = doctor->inspection.facts.vpid;
        g_autoptr(SessionSettings) settings =
                doctor->session ? session_control_find(session_name(doctor), NULL) : NULL;
        g_autofree char *fix = NULL;
        guint i;

        if (!vpid || !settings || !settings->track->len)
                return;
        for (i = 0; i < settings->track->len; i++)
                if (g_array_index(settings->track, int32_t, i) == vpid) {
                        finding_set(finding, FINDING_OK, NULL, "the session includes it");
                        return;
                }
        fix = g_strdup_printf("clrsym session start --name %s-%d --track %d", settings->name,
                              (int)doctor->pid, (int)doctor->pid);
        finding_set(finding, FINDING_PROBLEM, fix, "session %s is for other processes only",
                    settings->name);
}

/* True if a name or pattern in EVENTS covers ROW. */
static bool events_cover(const GPtrArray *events, const RecipeEvent *row)
{
        guint i;

        for (i = 0; events && i < events->len; i++)
                if (recipe_covers(events->pdata[i], row))
                        return true;
        return false;
}

void check_events(const Doctor *doctor, Finding *finding)
{
        const SessiondChannel *channel = session_channel(doctor);
        g_autoptr(GString) missing = g_string_new(NULL);
        g_autofree char *fix = NULL, *session = NULL, *name = NULL;
        bool is_needed = false;
        size_t i;

        if (!channel)
                return;
        for (i = 0; i < RECIPE_N_EVENTS; i++) {
                if (events_cover(channel->events, &RECIPE_EVENTS[i]))
                        continue;
                g_string_append_printf(missing, "%s%s", missing->len ? "," : "",
                                       RECIPE_EVENTS[i].pattern);
                is_needed = is_needed || RECIPE_EVENTS[i].is_needed;
        }
        if (!missing->len) {
                finding_set(finding, FINDING_OK, NULL, "the session has all events");
                return;
        }
        session = session_quoted_name(doctor);
        name = g_shell_quote(channel->name ? channel->name : "");
        fix = g_strdup_printf("lttng enable-event -u -s %s -c %s '%s'", session, name,
                              missing->str);
        finding_set(finding, is_needed ? FINDING_PROBLEM : FINDING_NOTE, fix,
                    "the session has no %s", missing->str);
}

/* The command that replaces the session, for settings of new sessions only. The caller frees it. */
static char *session_restart_command(const Doctor *doctor, const char *options)
{
        g_autoptr(SessionSettings) settings = session_control_find(session_name(doctor), NULL);
        g_autofree char *name = session_quoted_name(doctor), *command = NULL, *output = NULL;
        const char *path = session_path(doctor);

        command = g_strdup_printf("%s %s; clrsym session start%s%s",
                                  settings ? "clrsym session stop" : "lttng destroy", name,
                                  session_settings_is_name(name) ? " --name " : "",
                                  session_settings_is_name(name) ? name : "");
        /* The old trace stays. */
        if (!session_is_live(doctor) && *path) {
                g_autofree char *new_path = g_strconcat(path, "-new", NULL);
                g_autofree char *quoted = g_shell_quote(new_path);

                output = g_strconcat(" --output ", quoted, NULL);
        }
        return g_strconcat(command, output ? output : "", options, NULL);
}

void check_contexts(const Doctor *doctor, Finding *finding)
{
        const SessiondChannel *channel = session_channel(doctor);
        g_autoptr(GString) missing = g_string_new(NULL);
        g_autofree char *fix = NULL;
        bool is_needed = false;
        size_t i;

        if (!channel)
                return;
        if (!channel->contexts) {
                finding_set(finding, FINDING_UNKNOWN, "sudo clrsym doctor",
                            "the contexts of the session's events are unknown");
                return;
        }
        for (i = 0; i < RECIPE_N_CONTEXTS; i++) {
                const RecipeContext *row = &RECIPE_CONTEXTS[i];

                if (g_ptr_array_find_with_equal_func(channel->contexts, row->name, g_str_equal,
                                                     /* index_= */ NULL))
                        continue;
                g_string_append_printf(missing, "%s%s", missing->len ? ", " : "", row->name);
                is_needed = is_needed || row->is_needed;
        }
        if (!missing->len) {
                finding_set(finding, FINDING_OK, NULL, "the session's events name their process");
                return;
        }
        fix = session_restart_command(doctor, "");
        finding_set(finding, is_needed ? FINDING_PROBLEM : FINDING_NOTE, fix,
                    "the session's events lack the contexts %s", missing->str);
}

/* Bytes of a sub-buffer that would have been enough, even for all events at once. */
static uint64_t channel_better_size(const SessiondChannel *channel)
{
        uint64_t size = (uint64_t)channel->buffer_size, n = (uint64_t)channel->n_buffers;
        Buffers buffers = buffers_new(0);
        uint64_t wanted =
                size * n + (uint64_t)channel->n_discarded * BYTES_PER_EVENT / buffers.n_cpus;
        uint64_t better = MIN_BUFFER_SIZE;

        while (better < MAX_BUFFER_SIZE && (better <= size || better * buffers.n < wanted))
                better *= 2;
        return better;
}

void check_losses(const Doctor *doctor, Finding *finding)
{
        const SessiondChannel *channel = session_channel(doctor);
        g_autofree char *fix = NULL, *options = NULL;
        uint64_t size;

        if (!channel)
                return;
        if (channel->n_discarded <= 0) {
                finding_set(finding, FINDING_OK, NULL, "no event was discarded");
                return;
        }
        size = channel_better_size(channel);
        options = g_strdup_printf(" --buffer-size %" G_GUINT64_FORMAT "K", (guint64)(size >> 10));
        fix = session_restart_command(doctor, options);
        finding_set(finding, FINDING_PROBLEM, fix,
                    "%" G_GINT64_FORMAT " events were discarded: the sub-buffers are too small; "
                    "%" G_GUINT64_FORMAT "K would suffice",
                    channel->n_discarded, (guint64)(size >> 10));
}

void check_relay(const Doctor *doctor, Finding *finding)
{
        g_autoptr(SessionSettings) settings =
                session_is_live(doctor) ? session_control_find(session_name(doctor), NULL) : NULL;
        g_autofree char *fix = NULL;

        if (!settings)
                return;
        fix = g_strdup_printf("clrsym session repair %s", settings->name);
        if (relay_daemon_probe(settings->live_port, NULL, NULL) == RELAY_PORT_TRUSTED)
                finding_set(finding, FINDING_OK, NULL, "lttng-relayd listens on 127.0.0.1:%u",
                            settings->live_port);
        else
                finding_set(finding, FINDING_PROBLEM, fix,
                            "the session's lttng-relayd is gone, and with it the session");
}

/* The number of viewers of a session at the relay daemon; -1: not known. */
static int session_n_viewers(uint16_t port, const char *session)
{
        g_autofree char *url = g_strdup_printf("url=\"net://127.0.0.1:%u\"", port), *output = NULL;
        g_autofree char *name = g_strdup_printf("session-name: %s\n", session);
        char *const command[] = {(char *)"babeltrace2",
                                 (char *)"query",
                                 (char *)"src.ctf.lttng-live",
                                 (char *)"sessions",
                                 (char *)"-p",
                                 url,
                                 NULL};
        const char *at, *count = NULL, *next;

        if (subprocess_run((char **)command, VIEWERS_TIMEOUT_S, &output) != SUBPROCESS_OK)
                return -1;
        /* The members of each session are in the order of their names. */
        at = strstr(output, name);
        if (!at)
                return -1;
        for (next = output; (next = strstr(next, "client-count: ")) && next < at; next++)
                count = next;
        return count ? (int)g_ascii_strtoll(count + strlen("client-count: "), NULL, 10) : -1;
}

/* No feeder of clrsym is known. N: the number of viewers, or -1. */
static void viewers_set_finding(const Doctor *doctor, Finding *finding, int n, const char *fix)
{
        const char *name = session_name(doctor);

        if (n > 0 && doctor->n_feeders == 0)
                finding_set(finding, FINDING_PROBLEM,
                            "end the viewer that pgrep -af lttng-live shows",
                            "another viewer holds session %s, and nothing feeds the daemon", name);
        else if (n > 0)
                finding_set(finding, FINDING_NOTE, "pgrep -af lttng-live",
                            "another viewer holds session %s, and no clrsym feed is known", name);
        else if (n == 0)
                finding_set(finding, FINDING_PROBLEM, fix,
                            "no feeder feeds session %s into the daemon", name);
        else
                finding_set(
                        finding, FINDING_UNKNOWN, fix,
                        "the viewers of session %s are unknown: lttng-relayd does not report them, "
                        "and no clrsym feed is known",
                        name);
}

/* The phases of a feeder, with their status and fix. */
static const struct {
        FindingStatus status;
        const char *text, *fix;
} PHASES[_FEED_PHASE_MAX] = {
        [FEED_STARTING] = {FINDING_NOTE, "clrsym feed has just started", NULL},
        [FEED_LIVE] = {FINDING_OK, "clrsym feed reads it", NULL},
        [FEED_IDLE] = {FINDING_OK, "clrsym feed reads it, and no program has emitted anything",
                       NULL},
        [FEED_CATCHING_UP] = {FINDING_OK, "clrsym feed reads it, and is catching up", NULL},
        [FEED_FROM_FILES] = {FINDING_NOTE,
                             "another viewer holds the session; clrsym feed reads its files",
                             "pgrep -af lttng-live"},
        [FEED_NO_DAEMON] = {FINDING_PROBLEM, "clrsym feed waits for clrsymd",
                            "sudo systemctl start clrsymd-ingest.socket"},
        [FEED_NO_RELAYD] = {FINDING_PROBLEM, "clrsym feed waits for lttng-relayd",
                            "clrsym session repair"},
        [FEED_NO_SESSION] = {FINDING_PROBLEM, "clrsym feed waits: lttng-relayd has no such session",
                             "clrsym session repair"},
        [FEED_FAILED] = {FINDING_PROBLEM, "clrsym feed has failed", NULL},
};

static void feeder_set_finding(const json_t *state, Finding *finding)
{
        const char *reason = json_string_value(json_object_get(state, "reason"));
        const char *name = json_string_value(json_object_get(state, "state"));
        FeedPhase phase = FEED_STARTING;

        while (phase < _FEED_PHASE_MAX && g_strcmp0(feed_phase_name(phase), name) != 0)
                phase++;
        if (phase == _FEED_PHASE_MAX)
                finding_set(finding, FINDING_UNKNOWN, "clrsym status",
                            "clrsym feed reports an unknown state: %s", name ? name : "");
        else
                finding_set(finding, PHASES[phase].status, PHASES[phase].fix, "%s (process %d)%s%s",
                            PHASES[phase].text,
                            (int)json_integer_value(json_object_get(state, "pid")),
                            reason && PHASES[phase].status == FINDING_PROBLEM ? ": " : "",
                            reason && PHASES[phase].status == FINDING_PROBLEM ? reason : "");
}

void check_feeder(const Doctor *doctor, Finding *finding)
{
        const char *name = session_name(doctor);
        g_autofree char *quoted = NULL, *fix = NULL;
        g_autoptr(SessionSettings) settings = NULL;
        json_auto_t *state = NULL;

        if (!session_is_live(doctor))
                return;
        state = state_file_read(name);
        if (state) {
                feeder_set_finding(state, finding);
                return;
        }
        quoted = session_quoted_name(doctor);
        fix = g_strdup_printf("clrsym feed --session %s", quoted);
        settings = session_control_find(name, NULL);
        viewers_set_finding(
                doctor, finding,
                session_n_viewers(settings ? settings->live_port : RELAY_DEFAULT_LIVE, name), fix);
}
