/* SPDX-License-Identifier: MIT */
#include "feed/supervisor.h"

#include "feed/backoff.h"
#include "feed/catchup.h"
#include "feed/reader.h"
#include "feed/scratch.h"
#include "feed/state-file.h"
#include "session/manager.h"

#include <stdio.h>
#include <string.h>

/*
 * What runs when
 *
 * Without a daemon nothing does but a timer: the relay daemon keeps everything. With one, a live
 * reader is started, and again whenever it ends. It is held at every stream that it comes to until
 * a catch-up that began after that has read what the stream had before. Beside that, once in a
 * while a catch-up reads what comes of streams that the live reader does not have: because there is
 * none, another viewer being in its place or the relay daemon away; or because they were quiet
 * since it came.
 */

#define SWEEP_MS 1000
/* Where nobody reads live: nothing older comes to the disk any more, with a live timer of 1 s. */
#define SETTLE_NS UINT64_C(3000000000)
/* A reader that finds no session, or no relay daemon, has ended by then. */
#define IDLE_MS 2000
/* Between looks at whether the session and its daemons still work. */
#define MEND_MS 5000
/* A session that is not there may come soon: no reason to wait long. */
#define NO_SESSION_MS 500
/* To hand over what it has, when it is stopped. */
#define STOP_MS 3000

struct Supervisor {
        SupervisorSettings settings; /* borrowed */
        Scratch *scratch;            /* owned: for sockets and copies */
        StreamTable table;
        Merger *merger;   /* owned */
        Catchup *catchup; /* owned */
        Reader *live;     /* owned; NULL: none runs */
        gint64 live_since;
        gint64 silent_since; /* it runs, and has no streams yet; 0: not seen so */
        bool is_attached;    /* said so */
        Backoff live_backoff, daemon_backoff;
        gint64 daemon_since;
        bool is_connected;
        bool has_sweep; /* wanted as soon as it can be */
        guint connect_timer, live_timer, sweep_timer, mend_timer, stop_timer;
        GPid mender; /* 0: none */
        guint mender_source;
        FeedState state;
        char *said; /* owned: what went wrong last, so that it is not said again and again */
        void (*ended)(void *data);
        void *ended_data;
};

static gboolean try_connect(gpointer data);
static gboolean start_live(gpointer data);
static void catch_up(Supervisor *supervisor);
static bool is_attached(const Supervisor *supervisor);

static void on_lost(void *data, const char *why);
static void on_held(void *data);
static void on_intake_ended(void *data, Intake *intake, bool is_broken);
static void on_known(void *data);
static void on_live_ended(void *data, Reader *reader, const char *why);
static void on_caught_up(void *data, uint64_t last, const char *why);

static const MergerCalls MERGER_CALLS = {on_lost, on_held, on_intake_ended, on_known};
static const ReaderCalls LIVE_CALLS = {on_live_ended};
static const CatchupCalls CATCHUP_CALLS = {on_caught_up};

static void G_GNUC_PRINTF(2, 3) tell(Supervisor *supervisor, const char *format, ...)
{
        g_autofree char *text = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        fprintf(stderr, "clrsym feed: %s\n", text);
}

/* The same trouble is told of once. NULL: there is none any more. */
static void tell_trouble(Supervisor *supervisor, const char *what)
{
        if (what && g_strcmp0(what, supervisor->said))
                tell(supervisor, "%s", what);
        g_free(supervisor->said);
        supervisor->said = g_strdup(what);
}

static void set_phase(Supervisor *supervisor, FeedPhase phase, const char *reason)
{
        supervisor->state.live_pid = supervisor->live ? reader_pid(supervisor->live) : 0;
        state_file_write(&supervisor->state, phase, reason);
}

static unsigned long long ms_since(gint64 time)
{
        return (unsigned long long)(g_get_monotonic_time() - time) / 1000;
}

/* It is live, or was to be. */
static bool is_reading(const Supervisor *supervisor)
{
        return supervisor->is_attached || supervisor->state.phase == FEED_IDLE;
}

static void look_whether_idle(Supervisor *supervisor)
{
        if (!supervisor->live || !reader_intake(supervisor->live) || is_attached(supervisor))
                return;
        if (!supervisor->silent_since)
                supervisor->silent_since = g_get_monotonic_time();
        else if (supervisor->state.phase != FEED_IDLE &&
                 ms_since(supervisor->silent_since) >= IDLE_MS)
                set_phase(supervisor, FEED_IDLE, NULL);
}

static gboolean on_sweep(gpointer data)
{
        Supervisor *supervisor = data;
        uint64_t now = (uint64_t)g_get_monotonic_time() * 1000;

        if (!catchup_is_running(supervisor->catchup) && !is_attached(supervisor) && now > SETTLE_NS)
                merger_settle(supervisor->merger, now - SETTLE_NS);
        catch_up(supervisor);
        look_whether_idle(supervisor);
        return G_SOURCE_CONTINUE;
}

static gboolean mend(gpointer data);

Supervisor *supervisor_new(const SupervisorSettings *settings, GError **error)
{
        Supervisor *supervisor = g_new0(Supervisor, 1);
        CatchupSettings catchup;

        supervisor->settings = *settings;
        stream_table_init(&supervisor->table);
        supervisor->merger = merger_new(&supervisor->table, &MERGER_CALLS, supervisor);
        supervisor->scratch = scratch_new(error);
        if (!supervisor->scratch) {
                supervisor_free(supervisor);
                return NULL;
        }
        catchup = (CatchupSettings){settings->session, scratch_path(supervisor->scratch),
                                    settings->jit_events};
        supervisor->catchup = catchup_new(supervisor->merger, &supervisor->table, &catchup,
                                          &CATCHUP_CALLS, supervisor);
        state_file_init(&supervisor->state, settings->session);
        set_phase(supervisor, FEED_STARTING, NULL);
        supervisor->sweep_timer = g_timeout_add(SWEEP_MS, on_sweep, supervisor);
        supervisor->mend_timer = g_timeout_add(MEND_MS, mend, supervisor);
        supervisor->connect_timer = g_timeout_add(0, try_connect, supervisor);
        return supervisor;
}

void supervisor_free(Supervisor *supervisor)
{
        if (!supervisor)
                return;
        g_clear_handle_id(&supervisor->connect_timer, g_source_remove);
        g_clear_handle_id(&supervisor->live_timer, g_source_remove);
        g_clear_handle_id(&supervisor->sweep_timer, g_source_remove);
        g_clear_handle_id(&supervisor->mend_timer, g_source_remove);
        g_clear_handle_id(&supervisor->stop_timer, g_source_remove);
        g_clear_handle_id(&supervisor->mender_source, g_source_remove);
        catchup_free(supervisor->catchup);
        reader_free(supervisor->live);
        merger_free(supervisor->merger);
        stream_table_deinit(&supervisor->table);
        scratch_free(supervisor->scratch);
        state_file_remove(&supervisor->state);
        g_free(supervisor->said);
        g_free(supervisor);
}

/* The daemon */

static gboolean try_connect(gpointer data)
{
        Supervisor *supervisor = data;
        g_autoptr(GError) error = NULL;

        supervisor->connect_timer = 0;
        if (merger_connect(supervisor->merger, supervisor->settings.socket, &error)) {
                supervisor->is_connected = true;
                supervisor->daemon_since = g_get_monotonic_time();
                return G_SOURCE_REMOVE;
        }
        tell_trouble(supervisor, error->message);
        set_phase(supervisor, FEED_NO_DAEMON, error->message);
        supervisor->connect_timer = g_timeout_add(backoff_fail(&supervisor->daemon_backoff, 0),
                                                  try_connect, supervisor);
        return G_SOURCE_REMOVE;
}

static void on_lost(void *data, const char *why)
{
        Supervisor *supervisor = data;
        g_autofree char *text =
                g_strdup_printf("the daemon at %s: %s", supervisor->settings.socket, why);

        tell_trouble(supervisor, text);
        catchup_cancel(supervisor->catchup);
        g_clear_pointer(&supervisor->live, reader_free);
        g_clear_handle_id(&supervisor->live_timer, g_source_remove);
        merger_disconnect(supervisor->merger);
        supervisor->is_connected = false;
        supervisor->state.n_restarts += is_reading(supervisor);
        supervisor->is_attached = false;
        set_phase(supervisor, FEED_NO_DAEMON, text);
        if (supervisor->ended)
                return;
        supervisor->connect_timer = g_timeout_add(
                backoff_fail(&supervisor->daemon_backoff, ms_since(supervisor->daemon_since)),
                try_connect, supervisor);
}

static void on_known(void *data)
{
        Supervisor *supervisor = data;

        catchup_go_on(supervisor->catchup);
        if (!merger_is_ready(supervisor->merger) || supervisor->ended)
                return;
        if (!supervisor->live && !supervisor->live_timer) {
                tell_trouble(supervisor, NULL);
                supervisor->live_timer = g_timeout_add(0, start_live, supervisor);
        }
        if (supervisor->has_sweep)
                catch_up(supervisor);
}

/* The live reader */

static gboolean start_live(gpointer data)
{
        Supervisor *supervisor = data;
        g_autoptr(GError) error = NULL;

        supervisor->live_timer = 0;
        supervisor->is_attached = false;
        supervisor->live_since = g_get_monotonic_time();
        supervisor->silent_since = 0;
        supervisor->live =
                reader_start(supervisor->merger, INTAKE_LIVE, supervisor->settings.url,
                             scratch_path(supervisor->scratch), supervisor->settings.jit_events,
                             &LIVE_CALLS, supervisor, &error);
        if (!supervisor->live) {
                tell_trouble(supervisor, error->message);
                set_phase(supervisor, FEED_FAILED, error->message);
                supervisor->live_timer = g_timeout_add(backoff_fail(&supervisor->live_backoff, 0),
                                                       start_live, supervisor);
        }
        return G_SOURCE_REMOVE;
}

/* What babeltrace2 says, as it concerns whoever reads it here; NULL: as it is. */
static const char *explain(const char *why, FeedPhase *ret_phase)
{
        static const struct {
                const char *said, *means;
                FeedPhase phase;
        } ROWS[] = {
                {"already a viewer attached",
                 "another viewer holds the session; its files are read instead, up to a second "
                 "later",
                 FEED_FROM_FILES},
                {"Connection reset by peer", "the relay daemon has gone", FEED_NO_RELAYD},
                {"Remote side has closed connection", "the relay daemon has gone", FEED_NO_RELAYD},
                {"Cannot connect to", "no relay daemon answers: clrsym session list",
                 FEED_NO_RELAYD},
                {"Connection refused", "no relay daemon answers: clrsym session list",
                 FEED_NO_RELAYD},
                {"Unable to parse", "the session's URL makes no sense to babeltrace2", FEED_FAILED},
        };
        size_t i;

        *ret_phase = FEED_FAILED;
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                if (!strstr(why, ROWS[i].said))
                        continue;
                *ret_phase = ROWS[i].phase;
                return ROWS[i].means;
        }
        return NULL;
}

static void on_live_ended(void *data, Reader *reader, const char *why)
{
        Supervisor *supervisor = data;
        FeedPhase phase = FEED_NO_SESSION;
        g_autofree char *text = NULL;
        unsigned wait;

        if (why) {
                const char *means = explain(why, &phase);

                text = g_strdup_printf("%s", means ? means : why);
                wait = backoff_fail(&supervisor->live_backoff, ms_since(supervisor->live_since));
        } else {
                text = g_strdup_printf("the relay daemon has no session %s (any more)",
                                       supervisor->settings.session);
                backoff_reset(&supervisor->live_backoff);
                wait = NO_SESSION_MS;
        }
        g_clear_pointer(&supervisor->live, reader_free);
        if (supervisor->ended) {
                supervisor->ended(supervisor->ended_data);
                return;
        }
        tell_trouble(supervisor, text);
        supervisor->state.n_restarts += is_reading(supervisor) || phase == FEED_FAILED;
        supervisor->is_attached = false;
        set_phase(supervisor, phase, text);
        if (merger_is_ready(supervisor->merger) || merger_n_in_flight(supervisor->merger) > 0 ||
            supervisor->is_connected)
                supervisor->live_timer = g_timeout_add(wait, start_live, supervisor);
        mend(supervisor);
}

static void on_intake_ended(void *data, Intake *intake, bool is_broken)
{
        Supervisor *supervisor = data;

        /* Its process ends by itself, and says why. */
        if (supervisor->live && reader_drop_intake(supervisor->live, intake, is_broken))
                return;
        catchup_drop_intake(supervisor->catchup, intake, is_broken);
}

/* Catching up */

/* Where the relay daemon writes to; NULL: that cannot be known. The caller's. */
static char *relay_output(const Supervisor *supervisor)
{
        g_autoptr(Settings) settings = NULL;
        g_auto(Relay) relay = {0};

        if (supervisor->settings.relay_output)
                return g_strdup(supervisor->settings.relay_output);
        settings = manager_find(supervisor->settings.session, NULL);
        if (settings && settings->relay_output &&
            settings->live_port == supervisor->settings.live_port)
                return g_strdup(settings->relay_output);
        if (supervisor->settings.live_port && relay_find_at(supervisor->settings.live_port, &relay))
                return g_steal_pointer(&relay.output);
        return NULL;
}

static bool is_attached(const Supervisor *supervisor)
{
        const Intake *intake = supervisor->live ? reader_intake(supervisor->live) : NULL;

        return intake && intake_is_attached(intake);
}

static void catch_up(Supervisor *supervisor)
{
        g_autofree char *output = NULL;

        supervisor->has_sweep = true;
        if (catchup_is_running(supervisor->catchup) || !merger_is_ready(supervisor->merger) ||
            supervisor->ended)
                return;
        supervisor->has_sweep = false;
        output = relay_output(supervisor);
        if (is_attached(supervisor) && !supervisor->is_attached)
                set_phase(supervisor, FEED_CATCHING_UP, NULL);
        if (output)
                catchup_start(supervisor->catchup, output, is_attached(supervisor));
        else
                on_caught_up(supervisor, merger_last_held(supervisor->merger),
                             "where the relay daemon writes to is not known, so what was emitted "
                             "before cannot be caught up: give --relay-output DIR");
}

static void on_held(void *data)
{
        catch_up(data);
}

static void on_caught_up(void *data, uint64_t last, const char *why)
{
        Supervisor *supervisor = data;
        const CatchupStats *stats = catchup_stats(supervisor->catchup);

        if (why) {
                g_autofree char *text = g_strdup_printf("catching up: %s", why);

                tell_trouble(supervisor, text);
        }
        if (stats->n_packets != supervisor->state.n_packets) {
                g_autofree char *size = g_format_size(stats->n_bytes - supervisor->state.n_bytes);

                tell(supervisor, "caught up %" G_GUINT64_FORMAT " packets (%s)",
                     stats->n_packets - supervisor->state.n_packets, size);
                supervisor->state.n_packets = stats->n_packets;
                supervisor->state.n_bytes = stats->n_bytes;
        }
        merger_release(supervisor->merger, last);
        if (is_attached(supervisor) && !supervisor->is_attached) {
                supervisor->is_attached = true;
                if (!why)
                        tell_trouble(supervisor, NULL);
                tell(supervisor, "session %s: live", supervisor->settings.session);
                set_phase(supervisor, FEED_LIVE, why);
        }
        if (merger_last_held(supervisor->merger) > last)
                catch_up(supervisor);
}

/* The session */

static void on_mended(GPid pid, gint status, gpointer data)
{
        Supervisor *supervisor = data;

        supervisor->mender = 0;
        supervisor->mender_source = 0;
}

/*
 * In a process of its own: the session daemon may not answer. That says what it did, and nothing if
 * the session is well or not ours.
 */
static gboolean mend(gpointer data)
{
        Supervisor *supervisor = data;
        g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
        char *const argv[] = {self,
                              (char *)"session",
                              (char *)"mend",
                              (char *)"--quiet",
                              (char *)supervisor->settings.session,
                              NULL};

        if (!supervisor->mender && self && supervisor->settings.live_port && !supervisor->ended &&
            g_spawn_async(NULL, (char **)argv, NULL,
                          G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
                          &supervisor->mender, NULL))
                supervisor->mender_source =
                        g_child_watch_add(supervisor->mender, on_mended, supervisor);
        return G_SOURCE_CONTINUE;
}

static gboolean on_stop_timeout(gpointer data)
{
        Supervisor *supervisor = data;

        supervisor->stop_timer = 0;
        supervisor->ended(supervisor->ended_data);
        return G_SOURCE_REMOVE;
}

void supervisor_stop(Supervisor *supervisor, void (*ended)(void *data), void *data)
{
        bool is_first = !supervisor->ended;

        supervisor->ended = ended;
        supervisor->ended_data = data;
        if (!is_first)
                return;
        catchup_cancel(supervisor->catchup);
        supervisor->stop_timer =
                g_timeout_add(supervisor->live ? STOP_MS : 0, on_stop_timeout, supervisor);
        if (supervisor->live)
                reader_stop(supervisor->live);
}
