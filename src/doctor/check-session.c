/* SPDX-License-Identifier: MIT */

/*
 * Checks of the tracing session, and of its way into the daemon
 */

#include "doctor/bounded.h"
#include "doctor/doctor.h"
#include "feed/state-file.h"
#include "session/buffers.h"
#include "session/manager.h"
#include "session/recipe.h"
#include "session/size-text.h"

#include <pwd.h>
#include <string.h>
#include <unistd.h>

#define VIEWERS_TIMEOUT_S 5
/* Of an event in the buffers; a method's load with its names takes some hundred bytes. */
#define BYTES_PER_EVENT 300
#define MAX_BUFFER_SIZE (UINT64_C(64) << 20)
/* An event goes whole into a sub-buffer, and one of the runtime's takes up to 64 KiB. */
#define MIN_BUFFER_SIZE (UINT64_C(128) << 10)

static const char *text_of(const json_t *object, const char *name)
{
        const char *text = json_string_value(json_object_get(object, name));

        return text ? text : "";
}

static const char *session_name(const Doctor *doctor)
{
        return text_of(doctor->session, "name");
}

static bool is_live(const Doctor *doctor)
{
        return json_is_true(json_object_get(doctor->session, "live"));
}

/* For a shell. The caller's. */
static char *quoted_name(const Doctor *doctor)
{
        const char *name = session_name(doctor);

        return settings_is_name(name) ? g_strdup(name) : g_shell_quote(name);
}

/* The channel that matters: it has the runtime's events. */
static const json_t *session_channel(const Doctor *doctor)
{
        json_t *channel, *event;
        size_t i, j;

        json_array_foreach(json_object_get(doctor->session, "channels"), i, channel)
                json_array_foreach(
                        json_object_get(channel, "events"), j,
                        event) if (g_pattern_match_simple(json_string_value(event),
                                                          RECIPE_MOST_WANTED)) return channel;
        return NULL;
}

/* None that we may talk to: but the process may have one. */
static void tell_no_daemon(const Doctor *doctor, Finding *finding)
{
        const Inspection *inspection = &doctor->inspection;
        const char *home = inspection_text(inspection, "home");
        const struct passwd *user = inspection->has_uid ? getpwuid(inspection->uid) : NULL;
        g_autofree char *mend = NULL;

        if (inspection_is(inspection, "has_own_daemon") && inspection->uid != geteuid()) {
                mend = g_strdup_printf("sudo -u %s clrsym doctor %d", user ? user->pw_name : "USER",
                                       (int)doctor->pid);
                finding_set(finding, FINDING_UNKNOWN, mend,
                            "there is an lttng-sessiond of the user of the process, in %s/.lttng: "
                            "what that does is unknown",
                            home);
        } else if (doctor->facts.has_roots) {
                finding_set(finding, FINDING_PROBLEM, "clrsym session start",
                            "root's lttng-sessiond is for root and the group tracing, and you have "
                            "none");
        } else {
                finding_set(finding, FINDING_PROBLEM, "clrsym session start",
                            "no lttng-sessiond runs that you may talk to");
        }
}

void check_sessiond(const Doctor *doctor, Finding *finding)
{
        const Facts *facts = &doctor->facts;

        if (!facts->is_installed)
                finding_set(finding, FINDING_PROBLEM, "sudo apt install lttng-tools", "%s",
                            facts->error ? facts->error : "LTTng is not installed");
        else if (facts->is_silent)
                finding_set(finding, FINDING_PROBLEM, "sudo systemctl restart lttng-sessiond",
                            "lttng-sessiond does not answer");
        else if (facts->is_unclear)
                finding_set(finding, FINDING_UNKNOWN, "lttng list",
                            "to ask lttng-sessiond fails: whether there is one is unknown");
        else if (!facts->has_daemon)
                tell_no_daemon(doctor, finding);
        else
                finding_set(finding, FINDING_OK, NULL, "lttng-sessiond answers (%s)",
                            facts->daemon_uid == 0 ? "root's, for all users" : "your own");
}

void check_session(const Doctor *doctor, Finding *finding)
{
        const char *path = text_of(doctor->session, "path");
        size_t n = json_array_size(doctor->facts.sessions);

        if (!doctor->facts.has_daemon)
                return;
        if (!doctor->facts.is_listed)
                finding_set(finding, FINDING_UNKNOWN, "lttng list",
                            "lttng-sessiond does not list its sessions: what they are is unknown");
        else if (!doctor->session)
                finding_set(finding, FINDING_PROBLEM, "clrsym session start",
                            n ? "no session is active that has the runtime's events"
                              : "there is no tracing session");
        else if (is_live(doctor))
                finding_set(finding, FINDING_OK, NULL, "session %s is active, and live",
                            session_name(doctor));
        else
                finding_set(finding, FINDING_OK, NULL, "session %s is active, and recorded%s%s",
                            session_name(doctor), *path ? ", for --trace " : "", path);
}

/* Ours can be for some processes only, by their pids as they see themselves. */
void check_tracked(const Doctor *doctor, Finding *finding)
{
        const json_t *vpid = json_object_get(doctor->inspection.shown, "vpid");
        g_autoptr(Settings) settings =
                doctor->session ? manager_find(session_name(doctor), NULL) : NULL;
        g_autofree char *mend = NULL;
        guint i;

        if (!vpid || !settings || !settings->track->len)
                return;
        for (i = 0; i < settings->track->len; i++)
                if (g_array_index(settings->track, int32_t, i) == json_integer_value(vpid)) {
                        finding_set(finding, FINDING_OK, NULL, "the session is for it, too");
                        return;
                }
        mend = g_strdup_printf("clrsym session start --name %s-%d --track %d", settings->name,
                               (int)doctor->pid, (int)doctor->pid);
        finding_set(finding, FINDING_PROBLEM, mend, "session %s is for other processes only",
                    settings->name);
}

/* Is one of the names or patterns in LIST as good as ROW's? */
static bool covers(const json_t *list, const RecipeEvent *row)
{
        json_t *event;
        size_t i;

        json_array_foreach(list, i,
                           event) if (recipe_covers(json_string_value(event), row)) return true;
        return false;
}

void check_events(const Doctor *doctor, Finding *finding)
{
        const json_t *channel = session_channel(doctor);
        const json_t *events = json_object_get(channel, "events");
        g_autoptr(GString) missing = g_string_new(NULL);
        g_autofree char *mend = NULL, *session = NULL, *name = NULL;
        bool is_needed = false;
        size_t i;

        if (!channel)
                return;
        for (i = 0; i < RECIPE_N_EVENTS; i++) {
                if (covers(events, &RECIPE_EVENTS[i]))
                        continue;
                g_string_append_printf(missing, "%s%s", missing->len ? "," : "",
                                       RECIPE_EVENTS[i].pattern);
                is_needed = is_needed || RECIPE_EVENTS[i].is_needed;
        }
        if (!missing->len) {
                finding_set(finding, FINDING_OK, NULL, "the session has all events");
                return;
        }
        session = quoted_name(doctor);
        name = g_shell_quote(text_of(channel, "name"));
        mend = g_strdup_printf("lttng enable-event -u -s %s -c %s '%s'", session, name,
                               missing->str);
        finding_set(finding, is_needed ? FINDING_PROBLEM : FINDING_NOTE, mend,
                    "the session has no %s", missing->str);
}

/* Some things can only be said to a session before it is started. The caller's. */
static char *start_anew(const Doctor *doctor, const char *options)
{
        g_autoptr(Settings) settings = manager_find(session_name(doctor), NULL);
        g_autofree char *name = quoted_name(doctor), *command = NULL, *output = NULL;
        const char *path = text_of(doctor->session, "path");

        command = g_strdup_printf("%s %s; clrsym session start%s%s",
                                  settings ? "clrsym session stop" : "lttng destroy", name,
                                  settings_is_name(name) ? " --name " : "",
                                  settings_is_name(name) ? name : "");
        /* The old trace stays where it is. */
        if (!is_live(doctor) && *path) {
                g_autofree char *anew = g_strconcat(path, "-anew", NULL);
                g_autofree char *quoted = g_shell_quote(anew);

                output = g_strconcat(" --output ", quoted, NULL);
        }
        return g_strconcat(command, output ? output : "", options, NULL);
}

static bool has_name(const json_t *list, const char *name)
{
        json_t *one;
        size_t i;

        json_array_foreach(list, i, one) if (!strcmp(json_string_value(one), name)) return true;
        return false;
}

void check_contexts(const Doctor *doctor, Finding *finding)
{
        const json_t *channel = session_channel(doctor);
        const json_t *contexts = json_object_get(channel, "contexts");
        g_autoptr(GString) missing = g_string_new(NULL);
        g_autofree char *mend = NULL;
        bool is_needed = false;
        size_t i;

        if (!channel)
                return;
        if (!contexts) {
                finding_set(finding, FINDING_UNKNOWN, "sudo clrsym doctor",
                            "which contexts the session's events have is unknown");
                return;
        }
        for (i = 0; i < RECIPE_N_CONTEXTS; i++) {
                const RecipeContext *row = &RECIPE_CONTEXTS[i];

                if (has_name(contexts, row->name))
                        continue;
                g_string_append_printf(missing, "%s%s", missing->len ? ", " : "", row->name);
                is_needed = is_needed || row->is_needed;
        }
        if (!missing->len) {
                finding_set(finding, FINDING_OK, NULL, "the session says whose its events are");
                return;
        }
        mend = start_anew(doctor, "");
        finding_set(finding, is_needed ? FINDING_PROBLEM : FINDING_NOTE, mend,
                    "the session's events lack the contexts %s", missing->str);
}

/* What would have taken what was lost: as if it had all come at once. */
static uint64_t better_size(const json_t *channel, uint64_t n_lost)
{
        uint64_t size = (uint64_t)json_integer_value(json_object_get(channel, "buffer_size"));
        uint64_t n = (uint64_t)json_integer_value(json_object_get(channel, "buffers"));
        Buffers buffers = buffers_new(0);
        uint64_t wanted = size * n + n_lost * BYTES_PER_EVENT / buffers.n_cpus;
        uint64_t better = MIN_BUFFER_SIZE;

        while (better < MAX_BUFFER_SIZE && (better <= size || better * buffers.n < wanted))
                better *= 2;
        return better;
}

void check_losses(const Doctor *doctor, Finding *finding)
{
        const json_t *channel = session_channel(doctor);
        json_int_t n_lost = json_integer_value(json_object_get(channel, "discarded"));
        g_autofree char *mend = NULL, *options = NULL;
        uint64_t size;

        if (!channel)
                return;
        if (n_lost <= 0) {
                finding_set(finding, FINDING_OK, NULL, "no event was discarded");
                return;
        }
        size = better_size(channel, (uint64_t)n_lost);
        options = g_strdup_printf(" --buffer-size %" G_GUINT64_FORMAT "K", (guint64)(size >> 10));
        mend = start_anew(doctor, options);
        finding_set(finding, FINDING_PROBLEM, mend,
                    "%" JSON_INTEGER_FORMAT
                    " events were discarded: the sub-buffers are too small; "
                    "%" G_GUINT64_FORMAT "K would do",
                    n_lost, (guint64)(size >> 10));
}

void check_relay(const Doctor *doctor, Finding *finding)
{
        g_autoptr(Settings) settings =
                is_live(doctor) ? manager_find(session_name(doctor), NULL) : NULL;
        g_autofree char *mend = NULL;

        if (!settings)
                return;
        mend = g_strdup_printf("clrsym session mend %s", settings->name);
        if (relay_listens(settings->live_port))
                finding_set(finding, FINDING_OK, NULL, "lttng-relayd listens on 127.0.0.1:%u",
                            settings->live_port);
        else
                finding_set(finding, FINDING_PROBLEM, mend,
                            "the session's lttng-relayd is gone, and with it the session");
}

/* How many viewers the relay daemon has for a session; -1: that is not to be known. */
static int n_viewers(uint16_t port, const char *session)
{
        g_autofree char *url = g_strdup_printf("url=\"net://127.0.0.1:%u\"", port), *said = NULL;
        g_autofree char *name = g_strdup_printf("session-name: %s\n", session);
        char *const command[] = {(char *)"babeltrace2",
                                 (char *)"query",
                                 (char *)"src.ctf.lttng-live",
                                 (char *)"sessions",
                                 (char *)"-p",
                                 url,
                                 NULL};
        const char *at, *count = NULL, *next;

        if (bounded_run((char **)command, VIEWERS_TIMEOUT_S, &said) != BOUNDED_OK)
                return -1;
        /* Each session is a list of members, in the order of their names. */
        at = strstr(said, name);
        if (!at)
                return -1;
        for (next = said; (next = strstr(next, "client-count: ")) && next < at; next++)
                count = next;
        return count ? (int)g_ascii_strtoll(count + strlen("client-count: "), NULL, 10) : -1;
}

/* No feeder of ours is known: what is known of others? */
static void tell_viewers(const Doctor *doctor, Finding *finding, int n, const char *mend)
{
        const char *name = session_name(doctor);

        if (n > 0 && doctor->n_feeders == 0)
                finding_set(finding, FINDING_PROBLEM, "pgrep -af lttng-live",
                            "another viewer holds session %s, and nothing feeds the daemon", name);
        else if (n > 0)
                finding_set(finding, FINDING_NOTE, "pgrep -af lttng-live",
                            "another viewer holds session %s, and no clrsym feed is known", name);
        else if (n == 0)
                finding_set(finding, FINDING_PROBLEM, mend,
                            "nobody feeds session %s into the daemon", name);
        else
                finding_set(finding, FINDING_UNKNOWN, mend,
                            "who views session %s is unknown: lttng-relayd does not say, and no "
                            "clrsym feed is known",
                            name);
}

/* What a feeder says of itself: how good that is, and what mends it. */
static const struct {
        FindingStatus status;
        const char *text, *mend;
} PHASES[_FEED_PHASE_MAX] = {
        [FEED_STARTING] = {FINDING_NOTE, "clrsym feed has just started", NULL},
        [FEED_LIVE] = {FINDING_OK, "clrsym feed has it", NULL},
        [FEED_IDLE] = {FINDING_OK, "clrsym feed has it, and no program has said anything", NULL},
        [FEED_CATCHING_UP] = {FINDING_OK, "clrsym feed has it, and reads what was before", NULL},
        [FEED_FROM_FILES] = {FINDING_NOTE,
                             "another viewer holds the session; clrsym feed reads its files",
                             "pgrep -af lttng-live"},
        [FEED_NO_DAEMON] = {FINDING_PROBLEM, "clrsym feed waits for clrsymd",
                            "sudo systemctl start clrsymd-ingest.socket"},
        [FEED_NO_RELAYD] = {FINDING_PROBLEM, "clrsym feed waits for lttng-relayd",
                            "clrsym session mend"},
        [FEED_NO_SESSION] = {FINDING_PROBLEM, "clrsym feed waits: lttng-relayd has no such session",
                             "clrsym session mend"},
        [FEED_FAILED] = {FINDING_PROBLEM, "clrsym feed has trouble", NULL},
};

static void tell_feeder(const json_t *state, Finding *finding)
{
        const char *reason = json_string_value(json_object_get(state, "reason"));
        const char *name = text_of(state, "state");
        FeedPhase phase = FEED_STARTING;

        while (phase < _FEED_PHASE_MAX && strcmp(feed_phase_name(phase), name) != 0)
                phase++;
        if (phase == _FEED_PHASE_MAX)
                finding_set(finding, FINDING_UNKNOWN, "clrsym status",
                            "clrsym feed says of itself what makes no sense: %s", name);
        else
                finding_set(finding, PHASES[phase].status, PHASES[phase].mend,
                            "%s (process %d)%s%s", PHASES[phase].text,
                            (int)json_integer_value(json_object_get(state, "pid")),
                            reason && PHASES[phase].status == FINDING_PROBLEM ? ": " : "",
                            reason && PHASES[phase].status == FINDING_PROBLEM ? reason : "");
}

void check_feeder(const Doctor *doctor, Finding *finding)
{
        const char *name = session_name(doctor);
        g_autofree char *quoted = NULL, *mend = NULL;
        g_autoptr(Settings) settings = NULL;
        json_t *state;

        if (!is_live(doctor))
                return;
        state = state_file_read(name);
        if (state) {
                tell_feeder(state, finding);
                json_decref(state);
                return;
        }
        quoted = quoted_name(doctor);
        mend = g_strdup_printf("clrsym feed --session %s", quoted);
        settings = manager_find(name, NULL);
        tell_viewers(doctor, finding,
                     n_viewers(settings ? settings->live_port : RELAY_DEFAULT_LIVE, name), mend);
}
