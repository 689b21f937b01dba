/* SPDX-License-Identifier: MIT */
#include "feed/supervisor.h"

#include "feed/catchup.h"
#include "feed/live.h"
#include "feed/state-file.h"
#include "lttng/session-control.h"
#include "util/backoff.h"
#include "util/fd.h"
#include "util/message.h"

#include <string.h>

/*
 * The parts, and when they run
 *
 * Without a daemon only a timer runs: the relay daemon keeps all events. With a daemon, a live
 * reader is started, and restarted whenever it ends. The live reader holds each new stream until a
 * later catch-up has read the stream's earlier events. From time to time a catch-up also reads new
 * packets of streams that the live reader lacks: if there is no live reader, because another viewer
 * has its place or the relay daemon does not run; or if the streams were quiet since it attached.
 */

#define SWEEP_MS 1000
/*
 * Without a live reader: nothing older arrives on disk after this time, with a live timer of 1 s.
 */
#define SETTLE_NS UINT64_C(3000000000)
/* ms after which a reader without a session or a relay daemon has ended. */
#define IDLE_MS 2000
/* Between looks at whether the session and its daemons still work. */
#define REPAIR_MS 5000
/* ms; a session that does not exist may be created soon. */
#define NO_SESSION_MS 500
/* ms without any answer, after which the relay daemon hangs. */
#define HANGS_MS 10000
/* us for which a session must be missing to be lost; a session is also missing while it is
 * restarted. The time doubles each time. */
#define LOST_US     (5 * G_USEC_PER_SEC)
#define MAX_LOST_US (300 * G_USEC_PER_SEC)
/* Looking for a relay daemon needs fewer descriptors. */
#define LOOK_FDS 8
/* ms for the daemon's acknowledgements, when the feeder is stopped. */
#define STOP_MS 3000

static const char NO_ANSWER[] = "lttng-relayd is there, but does not answer";

typedef enum SupervisorState {
        SUPERVISOR_NO_DAEMON, /* the connect timer runs */
        SUPERVISOR_ASKING,    /* the daemon has not yet answered how far each stream is */
        SUPERVISOR_PAUSED,    /* the live timer runs, which starts the live reader */
        SUPERVISOR_READING,   /* the live reader runs; it is not attached, or held for a catch-up */
        SUPERVISOR_LIVE,      /* it is attached, and earlier events were read */
        SUPERVISOR_STOPPING,  /* supervisor_stop(): waits for the daemon's acknowledgements */
} SupervisorState;

struct Supervisor {
        SupervisorSettings settings; /* borrowed */
        SupervisorState state;
        StreamTable table;
        Outlet *outlet; /* owned */
        PacketFeed feed;
        Catchup *catchup;     /* owned */
        Live *live;           /* owned; NULL: it does not run */
        uint64_t n_live;      /* live readers so far */
        bool is_caught_up;    /* the events before the present one were read */
        gint64 catchup_us;    /* when the last catch-up began: us since 1970 */
        char *missing;        /* owned: why some of these events are lost; NULL: none are */
        bool had_session;     /* the relay daemon had the session, and did not end since */
        gint64 missing_since; /* since when the relay daemon lacks the session; 0: it does not */
        gint64 lost_us;       /* the time after which a missing session is lost */
        gint64 live_since;
        gint64 idle_since; /* since when the live reader has no stream; 0: it has */
        Backoff live_backoff, daemon_backoff;
        gint64 daemon_since;
        guint connect_timer, live_timer, sweep_timer, repair_timer, stop_timer;
        GPid repair_pid; /* 0: not running */
        guint repair_source;
        FeedState file;
        char *trouble; /* owned: the last printed failure, which is not repeated; NULL: none */
        void (*ended)(void *data);
        void *ended_data;
};

static gboolean supervisor_on_connect_timer(gpointer data);
static gboolean supervisor_on_live_timer(gpointer data);
static void supervisor_on_attached(void *data);
static void supervisor_on_held(void *data);
static void supervisor_on_live_ended(void *data, LiveEnd end, const char *reason);
static void supervisor_catch_up(Supervisor *supervisor);
static void supervisor_check_live(Supervisor *supervisor, bool is_late);
static void supervisor_repair(Supervisor *supervisor, bool is_lost);

static const LiveCalls LIVE_CALLS = {
        .attached = supervisor_on_attached,
        .held = supervisor_on_held,
        .ended = supervisor_on_live_ended,
};

/* Prints each failure once. NULL: the failure has passed. */
static void supervisor_print_trouble(Supervisor *supervisor, const char *what)
{
        if (what && g_strcmp0(what, supervisor->trouble))
                message_print("clrsym feed", "%s", what);
        g_free(supervisor->trouble);
        supervisor->trouble = g_strdup(what);
}

static void supervisor_set_phase(Supervisor *supervisor, FeedPhase phase, const char *reason)
{
        state_file_write(&supervisor->file, phase, reason);
}

/* Leaves the present state; the caller sets the timers of the new one. */
static void supervisor_enter(Supervisor *supervisor, SupervisorState state)
{
        switch (supervisor->state) {
        case SUPERVISOR_NO_DAEMON:
                g_clear_handle_id(&supervisor->connect_timer, g_source_remove);
                break;
        case SUPERVISOR_PAUSED:
                g_clear_handle_id(&supervisor->live_timer, g_source_remove);
                break;
        case SUPERVISOR_LIVE:
                supervisor->file.n_restarts++;
                break;
        case SUPERVISOR_READING:
                supervisor->file.n_restarts +=
                        state != SUPERVISOR_LIVE && supervisor->file.phase == FEED_IDLE;
                break;
        case SUPERVISOR_ASKING:
        case SUPERVISOR_STOPPING:
                break;
        }
        supervisor->state = state;
}

static void supervisor_pause(Supervisor *supervisor, unsigned ms)
{
        supervisor_enter(supervisor, SUPERVISOR_PAUSED);
        supervisor->live_timer = g_timeout_add(ms, supervisor_on_live_timer, supervisor);
}

static unsigned long long ms_since(gint64 time)
{
        return (unsigned long long)(g_get_monotonic_time() - time) / 1000;
}

/* True if the live reader receives all events from now on. */
static bool supervisor_is_attached(const Supervisor *supervisor)
{
        return supervisor->live && live_is_attached(supervisor->live);
}

static bool supervisor_is_hanging(const Supervisor *supervisor)
{
        gint64 since = supervisor->live ? live_waits_since(supervisor->live) : 0;

        return since && ms_since(since) >= HANGS_MS;
}

static void supervisor_check_idle(Supervisor *supervisor)
{
        if (!supervisor->live || !live_is_connected(supervisor->live) ||
            supervisor_is_attached(supervisor) || supervisor_is_hanging(supervisor))
                return;
        if (!supervisor->idle_since)
                supervisor->idle_since = g_get_monotonic_time();
        else if (supervisor->file.phase != FEED_IDLE && ms_since(supervisor->idle_since) >= IDLE_MS)
                supervisor_set_phase(supervisor, FEED_IDLE, NULL);
}

/* The connection stays: a slow relay daemon continues where it was. */
static void supervisor_check_answers(Supervisor *supervisor)
{
        bool is_hanging = supervisor_is_hanging(supervisor);
        bool is_reported = supervisor->file.phase == FEED_NO_RELAYD;

        if (is_hanging && !is_reported) {
                supervisor_print_trouble(supervisor, NO_ANSWER);
                supervisor_set_phase(supervisor, FEED_NO_RELAYD, NO_ANSWER);
        } else if (!is_hanging && is_reported && supervisor->state == SUPERVISOR_LIVE) {
                supervisor_print_trouble(supervisor, supervisor->missing);
                supervisor_set_phase(supervisor, FEED_LIVE, supervisor->missing);
        }
}

static gboolean supervisor_on_sweep(gpointer data)
{
        Supervisor *supervisor = data;
        uint64_t now = (uint64_t)g_get_monotonic_time() * 1000;

        if (!catchup_is_running(supervisor->catchup) && !supervisor_is_attached(supervisor) &&
            now > SETTLE_NS)
                outlet_settle_disk(supervisor->outlet, now - SETTLE_NS);
        supervisor_check_live(supervisor, true);
        supervisor_catch_up(supervisor);
        supervisor_check_live(supervisor, false);
        supervisor_check_idle(supervisor);
        supervisor_check_answers(supervisor);
        return G_SOURCE_CONTINUE;
}

/* The daemon */

static void supervisor_wait_for_daemon(Supervisor *supervisor, unsigned long long ms_connected)
{
        supervisor->connect_timer =
                g_timeout_add(backoff_fail(&supervisor->daemon_backoff, ms_connected),
                              supervisor_on_connect_timer, supervisor);
}

static gboolean supervisor_on_connect_timer(gpointer data)
{
        Supervisor *supervisor = data;
        g_autoptr(GError) error = NULL;

        supervisor->connect_timer = 0;
        if (outlet_connect(supervisor->outlet, supervisor->settings.socket, &error)) {
                supervisor_enter(supervisor, SUPERVISOR_ASKING);
                supervisor->daemon_since = g_get_monotonic_time();
                return G_SOURCE_REMOVE;
        }
        supervisor_print_trouble(supervisor, error->message);
        supervisor_set_phase(supervisor, FEED_NO_DAEMON, error->message);
        supervisor_wait_for_daemon(supervisor, 0);
        return G_SOURCE_REMOVE;
}

static void supervisor_on_lost(void *data, const char *reason)
{
        Supervisor *supervisor = data;
        g_autofree char *text =
                g_strdup_printf("the daemon at %s: %s", supervisor->settings.socket, reason);
        bool is_stopping = supervisor->state == SUPERVISOR_STOPPING;

        supervisor_print_trouble(supervisor, text);
        catchup_cancel(supervisor->catchup);
        g_clear_pointer(&supervisor->live, live_free);
        outlet_disconnect(supervisor->outlet);
        packet_feed_forget_daemon(&supervisor->feed);
        if (!is_stopping)
                supervisor_enter(supervisor, SUPERVISOR_NO_DAEMON);
        supervisor_set_phase(supervisor, FEED_NO_DAEMON, text);
        if (is_stopping)
                supervisor->ended(supervisor->ended_data);
        else
                supervisor_wait_for_daemon(supervisor, ms_since(supervisor->daemon_since));
}

static void supervisor_on_known(void *data)
{
        Supervisor *supervisor = data;

        if (supervisor->state == SUPERVISOR_STOPPING) {
                if (outlet_n_in_flight(supervisor->outlet) == 0)
                        supervisor->ended(supervisor->ended_data);
                return;
        }
        catchup_go_on(supervisor->catchup);
        if (!outlet_is_ready(supervisor->outlet))
                return;
        if (supervisor->state == SUPERVISOR_ASKING) {
                supervisor_print_trouble(supervisor, NULL);
                supervisor_pause(supervisor, 0);
        }
        /* The catch-up could not begin when the live reader was held. */
        if (supervisor->live && live_n_held(supervisor->live) > 0)
                supervisor_catch_up(supervisor);
        if (supervisor->live)
                live_go_on(supervisor->live);
        supervisor_check_live(supervisor, false);
}

/* The live reader */

/* Checks that the relay daemon's port belongs to a trusted user, because any user may listen there
 * while lttng-relayd does not. RET_NET: the process whose network namespace it is in, or 0. */
static bool supervisor_check_relay(Supervisor *supervisor, pid_t *ret_net)
{
        uint16_t port = supervisor->settings.live_port;
        g_autofree char *user = NULL, *text = NULL;
        FeedPhase phase = FEED_NO_RELAYD;
        RelayPort found;

        *ret_net = 0;
        if (!port)
                return true;
        found = relay_daemon_probe(port, ret_net, &user);
        if (found == RELAY_PORT_TRUSTED)
                return true;
        if (!fd_can_open(LOOK_FDS)) {
                text = g_strdup_printf("cannot look for the relay daemon: %s", g_strerror(errno));
                phase = FEED_FAILED;
        } else if (found == RELAY_PORT_FOREIGN) {
                text = g_strdup_printf(
                        "port %u belongs to user %s, who is not trusted; waiting for "
                        "lttng-relayd",
                        port, user);
        } else {
                text = g_strdup("no relay daemon answers: clrsym session repair");
        }
        supervisor_print_trouble(supervisor, text);
        supervisor_set_phase(supervisor, phase, text);
        return false;
}

static gboolean supervisor_on_live_timer(gpointer data)
{
        Supervisor *supervisor = data;
        g_autoptr(GError) error = NULL;
        LiveSettings live = {
                .host = supervisor->settings.host,
                .port = supervisor->settings.port,
                .target = supervisor->settings.target,
                .session = supervisor->settings.session,
        };

        supervisor->live_timer = 0;
        supervisor->live_since = g_get_monotonic_time();
        supervisor->idle_since = 0;
        supervisor->is_caught_up = false;
        if (!supervisor_check_relay(supervisor, &live.net)) {
                supervisor_pause(supervisor, backoff_fail(&supervisor->live_backoff, 0));
                supervisor_repair(supervisor, false);
                return G_SOURCE_REMOVE;
        }
        supervisor->live = live_new(&supervisor->feed, &supervisor->table, &live,
                                    ++supervisor->n_live, &LIVE_CALLS, supervisor, &error);
        if (supervisor->live) {
                supervisor_enter(supervisor, SUPERVISOR_READING);
        } else {
                supervisor_print_trouble(supervisor, error->message);
                supervisor_set_phase(supervisor, FEED_FAILED, error->message);
                supervisor_pause(supervisor, backoff_fail(&supervisor->live_backoff, 0));
        }
        return G_SOURCE_REMOVE;
}

/* The phase after the live reader's end. RET_TEXT: the message, owned by the caller. */
static FeedPhase live_end_phase(const Supervisor *supervisor, LiveEnd end, const char *reason,
                                char **ret_text)
{
        uint16_t port = supervisor->settings.live_port;
        bool had_connected = live_is_connected(supervisor->live);

        switch (end) {
        case LIVE_END_NO_SESSION:
                *ret_text = g_strdup_printf("the relay daemon has no session %s (any more)",
                                            supervisor->settings.session);
                return FEED_NO_SESSION;
        case LIVE_END_BUSY:
                *ret_text = g_strdup("another viewer holds the session; its files are read "
                                     "instead, up to a second later");
                return FEED_FROM_FILES;
        case LIVE_END_LOST:
                if (port && relay_daemon_probe(port, NULL, NULL) == RELAY_PORT_TRUSTED)
                        break;
                *ret_text =
                        g_strdup(had_connected ? "the relay daemon has gone"
                                               : "no relay daemon answers: clrsym session repair");
                return FEED_NO_RELAYD;
        case LIVE_END_BROKEN:
                break;
        }
        *ret_text = g_strdup(reason);
        return FEED_FAILED;
}

/*
 * True if the relay daemon has given up a session that it had, as it does permanently when it
 * cannot write its files. The session daemon does not notice that, and the session records nothing
 * any more. If a relay daemon disconnects each viewer that attaches, it has lost the session, too.
 */
static bool supervisor_has_lost_session(Supervisor *supervisor, LiveEnd end, FeedPhase phase)
{
        bool is_missing =
                end == LIVE_END_NO_SESSION || (end == LIVE_END_LOST && phase != FEED_NO_RELAYD);
        gint64 now = g_get_monotonic_time();

        if (phase == FEED_NO_RELAYD)
                supervisor->had_session = false;
        if (!is_missing || !supervisor->had_session)
                supervisor->missing_since = 0;
        else if (!supervisor->missing_since)
                supervisor->missing_since = now;
        if (!supervisor->missing_since || now - supervisor->missing_since < supervisor->lost_us)
                return false;
        /* The cause of the loss may persist; or no program runs in the new session. */
        supervisor->missing_since = 0;
        supervisor->lost_us = MIN(2 * supervisor->lost_us, MAX_LOST_US);
        return true;
}

static void supervisor_on_live_ended(void *data, LiveEnd end, const char *reason)
{
        Supervisor *supervisor = data;
        g_autofree char *text = NULL;
        FeedPhase phase = live_end_phase(supervisor, end, reason, &text);
        bool is_lost = supervisor_has_lost_session(supervisor, end, phase);
        unsigned wait = NO_SESSION_MS;

        if (end == LIVE_END_NO_SESSION)
                backoff_reset(&supervisor->live_backoff);
        else
                wait = backoff_fail(&supervisor->live_backoff, ms_since(supervisor->live_since));
        g_clear_pointer(&supervisor->live, live_free);
        if (supervisor->state == SUPERVISOR_STOPPING)
                return;
        supervisor_print_trouble(supervisor, text);
        /* A failure counts even if the reader was not live. */
        if (phase == FEED_FAILED && supervisor->state == SUPERVISOR_READING &&
            supervisor->file.phase != FEED_IDLE)
                supervisor->file.n_restarts++;
        supervisor_pause(supervisor, wait);
        supervisor_set_phase(supervisor, phase, text);
        supervisor_repair(supervisor, is_lost);
}

/* Catching up */

/* Like supervisor_relay_output(), without the cache. */
static char *supervisor_find_relay_output(const Supervisor *supervisor)
{
        g_autoptr(SessionSettings) settings = NULL;
        g_auto(RelayDaemon) relay = {0};

        if (supervisor->settings.relay_output)
                return g_strdup(supervisor->settings.relay_output);
        settings = session_control_find(supervisor->settings.session, NULL);
        if (settings && settings->relay_output &&
            settings->live_port == supervisor->settings.live_port)
                return g_strdup(settings->relay_output);
        if (supervisor->settings.live_port &&
            relay_daemon_find_at(supervisor->settings.live_port, &relay))
                return g_steal_pointer(&relay.output);
        return NULL;
}

/* The directory that the relay daemon writes to; NULL: not known. Owned by the caller. RET_ERROR:
 * 0, or the errno of the failed search. */
static char *supervisor_relay_output(const Supervisor *supervisor, int *ret_error)
{
        bool can_look = fd_can_open(LOOK_FDS);
        int error = errno;
        char *output = supervisor_find_relay_output(supervisor);

        *ret_error = 0;
        if (output || (can_look && fd_can_open(LOOK_FDS)))
                return output;
        *ret_error = can_look ? errno : error;
        return NULL;
}

/* Earlier events were read: the feeder is live once the daemon has acknowledged them, or after a
 * while. A trace may have times that the live reader never reaches. */
static void supervisor_check_live(Supervisor *supervisor, bool is_late)
{
        if (supervisor->state != SUPERVISOR_READING || !supervisor->is_caught_up ||
            (!is_late && !outlet_is_settled(supervisor->outlet)))
                return;
        supervisor_enter(supervisor, SUPERVISOR_LIVE);
        if (!supervisor->missing)
                supervisor_print_trouble(supervisor, NULL);
        message_print("clrsym feed", "session %s: live", supervisor->settings.session);
        supervisor_set_phase(supervisor, FEED_LIVE, supervisor->missing);
}

/* CatchupCalls.last_held. */
static uint64_t supervisor_last_held(void *data)
{
        const Supervisor *supervisor = data;

        return supervisor->live ? live_last_held(supervisor->live) : 0;
}

static void supervisor_on_caught_up(void *data, uint64_t last, const char *reason)
{
        Supervisor *supervisor = data;
        const CatchupStats *stats = catchup_stats(supervisor->catchup);

        if (reason) {
                g_autofree char *text = g_strdup_printf("catching up: %s", reason);

                supervisor_print_trouble(supervisor, text);
        }
        if (stats->n_packets != supervisor->file.n_packets) {
                g_autofree char *size = g_format_size(stats->n_bytes - supervisor->file.n_bytes);

                message_print("clrsym feed", "caught up %" G_GUINT64_FORMAT " packets (%s)",
                              stats->n_packets - supervisor->file.n_packets, size);
                supervisor->file.n_packets = stats->n_packets;
                supervisor->file.n_bytes = stats->n_bytes;
        }
        if (supervisor->live)
                live_release(supervisor->live, last);
        if (supervisor->state == SUPERVISOR_READING && supervisor_is_attached(supervisor)) {
                supervisor->is_caught_up = true;
                if (!reason)
                        supervisor->file.read_until_us = supervisor->catchup_us;
                g_free(supervisor->missing);
                supervisor->missing = g_strdup(reason);
        }
        if (supervisor_last_held(supervisor) > last)
                supervisor_catch_up(supervisor);
}

static void supervisor_on_catchup_waits(void *data, const char *reason)
{
        Supervisor *supervisor = data;
        g_autofree char *text = g_strdup_printf("catching up: %s", reason);

        supervisor_print_trouble(supervisor, text);
        if (supervisor->state == SUPERVISOR_READING)
                supervisor_set_phase(supervisor, FEED_CATCHING_UP, text);
}

static void supervisor_catch_up(Supervisor *supervisor)
{
        g_autofree char *output = NULL;
        bool is_attached = supervisor_is_attached(supervisor);
        int error;

        if (supervisor->state == SUPERVISOR_STOPPING || catchup_is_running(supervisor->catchup) ||
            !outlet_is_ready(supervisor->outlet))
                return;
        output = supervisor_relay_output(supervisor, &error);
        if (error) {
                /* Nothing is lost: the streams that are held wait for the next sweep. */
                supervisor_on_catchup_waits(supervisor, g_strerror(error));
                return;
        }
        if (supervisor->state == SUPERVISOR_READING && is_attached)
                supervisor_set_phase(supervisor, FEED_CATCHING_UP, NULL);
        supervisor->catchup_us = g_get_real_time();
        if (output)
                catchup_start(supervisor->catchup, output,
                              is_attached ? live_number(supervisor->live) : 0);
        else
                supervisor_on_caught_up(
                        supervisor, supervisor_last_held(supervisor),
                        "the directory that the relay daemon writes to is not known, so earlier "
                        "events cannot be read: give --relay-output DIR");
}

/* The port's owner was checked before the connection was made; this checks the owner of the
 * connection's other end. No data of the connection was used yet. */
static bool supervisor_confirm_relay(Supervisor *supervisor)
{
        pid_t net;

        if (supervisor->state != SUPERVISOR_READING || supervisor_check_relay(supervisor, &net))
                return true;
        g_clear_pointer(&supervisor->live, live_free);
        supervisor_pause(supervisor, backoff_fail(&supervisor->live_backoff, 0));
        return false;
}

static void supervisor_on_attached(void *data)
{
        Supervisor *supervisor = data;

        supervisor->had_session = true;
        supervisor->missing_since = 0;
        supervisor->lost_us = LOST_US;
        supervisor_confirm_relay(supervisor);
}

/* The live reader has come to a new stream, and holds it. */
static void supervisor_on_held(void *data)
{
        if (supervisor_confirm_relay(data))
                supervisor_catch_up(data);
}

/* The session */

static void supervisor_on_repaired(GPid pid, gint status, gpointer data)
{
        Supervisor *supervisor = data;

        supervisor->repair_pid = 0;
        supervisor->repair_source = 0;
}

/* Runs the repair in a process of its own, because the session daemon may not answer. */
static void supervisor_repair(Supervisor *supervisor, bool is_lost)
{
        const char *const *words = supervisor->settings.repair_command;
        g_autoptr(GPtrArray) command = g_ptr_array_new();

        if (!words || supervisor->repair_pid || supervisor->state == SUPERVISOR_STOPPING)
                return;
        for (; *words; words++)
                g_ptr_array_add(command, (char *)*words);
        if (is_lost)
                g_ptr_array_add(command, (char *)"--restart");
        g_ptr_array_add(command, NULL);
        if (g_spawn_async(NULL, (char **)command->pdata, NULL,
                          G_SPAWN_DO_NOT_REAP_CHILD | G_SPAWN_STDOUT_TO_DEV_NULL, NULL, NULL,
                          &supervisor->repair_pid, NULL))
                supervisor->repair_source = g_child_watch_add(supervisor->repair_pid,
                                                              supervisor_on_repaired, supervisor);
}

static gboolean supervisor_on_repair_timer(gpointer data)
{
        supervisor_repair(data, false);
        return G_SOURCE_CONTINUE;
}

/* Its beginning and its end */

Supervisor *supervisor_new(const SupervisorSettings *settings)
{
        static const OutletCalls OUTLET_CALLS = {
                .lost = supervisor_on_lost,
                .known = supervisor_on_known,
        };
        static const CatchupCalls CATCHUP_CALLS = {
                .done = supervisor_on_caught_up,
                .waits = supervisor_on_catchup_waits,
                .last_held = supervisor_last_held,
        };
        Supervisor *supervisor = g_new0(Supervisor, 1);

        supervisor->settings = *settings;
        stream_table_init(&supervisor->table);
        supervisor->outlet = outlet_new(&supervisor->table, &OUTLET_CALLS, supervisor);
        packet_feed_init(&supervisor->feed, supervisor->outlet,
                         settings->jit_events ? EVENT_USE_JIT : EVENT_USE_CODE_MAPS);
        supervisor->catchup = catchup_new(&supervisor->feed, &supervisor->table, settings->session,
                                          &CATCHUP_CALLS, supervisor);
        state_file_init(&supervisor->file, settings->session);
        supervisor_set_phase(supervisor, FEED_STARTING, NULL);
        supervisor->sweep_timer = g_timeout_add(SWEEP_MS, supervisor_on_sweep, supervisor);
        supervisor->repair_timer = g_timeout_add(REPAIR_MS, supervisor_on_repair_timer, supervisor);
        supervisor->connect_timer = g_timeout_add(0, supervisor_on_connect_timer, supervisor);
        return supervisor;
}

void supervisor_free(Supervisor *supervisor)
{
        if (!supervisor)
                return;
        g_clear_handle_id(&supervisor->connect_timer, g_source_remove);
        g_clear_handle_id(&supervisor->live_timer, g_source_remove);
        g_clear_handle_id(&supervisor->sweep_timer, g_source_remove);
        g_clear_handle_id(&supervisor->repair_timer, g_source_remove);
        g_clear_handle_id(&supervisor->stop_timer, g_source_remove);
        g_clear_handle_id(&supervisor->repair_source, g_source_remove);
        catchup_free(supervisor->catchup);
        live_free(supervisor->live);
        outlet_free(supervisor->outlet);
        packet_feed_deinit(&supervisor->feed);
        stream_table_deinit(&supervisor->table);
        state_file_remove(&supervisor->file);
        g_free(supervisor->missing);
        g_free(supervisor->trouble);
        g_free(supervisor);
}

static gboolean supervisor_on_stop_timeout(gpointer data)
{
        Supervisor *supervisor = data;

        supervisor->stop_timer = 0;
        supervisor->ended(supervisor->ended_data);
        return G_SOURCE_REMOVE;
}

void supervisor_stop(Supervisor *supervisor, void (*ended)(void *data), void *data)
{
        supervisor->ended = ended;
        supervisor->ended_data = data;
        if (supervisor->state == SUPERVISOR_STOPPING)
                return;
        supervisor_enter(supervisor, SUPERVISOR_STOPPING);
        catchup_cancel(supervisor->catchup);
        g_clear_pointer(&supervisor->live, live_free);
        supervisor->stop_timer = g_timeout_add(outlet_n_in_flight(supervisor->outlet) ? STOP_MS : 0,
                                               supervisor_on_stop_timeout, supervisor);
}
