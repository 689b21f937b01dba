/* SPDX-License-Identifier: MIT */
#include "lttng/session-control.h"

#include "lttng/session-health.h"
#include "lttng/errors.h"
#include "lttng/state-dir.h"
#include "lttng/tcp-port.h"
#include "lttng/trace-list.h"
#include "lttng/sessiond.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define SUFFIX   ".session"
#define SESSIOND "lttng-sessiond"
/* The file of root's session daemon. */
#define SESSIOND_PID "/run/lttng/" SESSIOND ".pid"

/* The state directory, locked. */
typedef struct LockedDir {
        char *path; /* owned */
        int lock;
} LockedDir;

static void locked_dir_clear(LockedDir *dir)
{
        if (dir->lock >= 0)
                close(dir->lock);
        g_free(dir->path);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(LockedDir, locked_dir_clear)

static bool locked_dir_open(LockedDir *ret_dir, GError **error)
{
        ret_dir->path = state_dir_open(error);
        ret_dir->lock = ret_dir->path ? state_dir_lock(ret_dir->path, error) : -1;
        return ret_dir->lock >= 0;
}

static char *settings_file_name(const char *session)
{
        return g_strconcat(session, SUFFIX, NULL);
}

/* NULL: there is no such session, or its file is damaged. */
static SessionSettings *settings_read(const char *directory, const char *name)
{
        g_autofree char *file = settings_file_name(name);
        json_auto_t *value = state_dir_read(directory, file, NULL);

        return value ? session_settings_from_json(value) : NULL;
}

static bool settings_write(const char *directory, const SessionSettings *settings, GError **error)
{
        g_autofree char *file = settings_file_name(settings->name);
        json_auto_t *value = session_settings_to_json(settings);

        return state_dir_write(directory, file, value, error);
}

static bool sessiond_is_ready(void *data)
{
        return sessiond_is_running(NULL);
}

/* Root's session daemon connects to the relay daemon, so it must be in the same network namespace.
 * Another user's relay daemon is in that user's namespace. */
static bool sessiond_check_net(const RelayDaemon *relay, GError **error)
{
        g_autofree char *text = NULL;
        gint64 pid = 0;

        if (geteuid() == 0 && g_file_get_contents(SESSIOND_PID, &text, NULL, NULL))
                pid = g_ascii_strtoll(text, NULL, 10);
        if (pid <= 0 || pid > INT32_MAX || !net_namespace_differs((pid_t)pid, relay->process.pid))
                return true;
        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                    SESSIOND
                    " (process %" G_GINT64_FORMAT ") cannot reach lttng-relayd (process "
                    "%d), which is in another network namespace: systemctl restart " SESSIOND,
                    pid, (int)relay->process.pid);
        return false;
}

/* Uses the user's session daemon, or starts one. RELAY: the relay daemon that the session daemon
 * must reach; NULL: none. */
static bool sessiond_ensure(const char *directory, const RelayDaemon *relay, bool *ret_is_started,
                            GError **error)
{
        g_autofree char *log = g_build_filename(directory, SESSIOND ".log", NULL);
        g_autoptr(GError) missing = NULL;
        json_auto_t *value = NULL;
        DaemonProcess process;

        *ret_is_started = false;
        if (sessiond_is_running(&missing))
                return !relay || sessiond_check_net(relay, error);
        if (missing) {
                g_propagate_error(error, g_steal_pointer(&missing));
                return false;
        }
        /* With root's rights, kernel tracing would load modules. */
        if (!daemon_process_start((char *[]){(char *)SESSIOND, (char *)"--no-kernel", NULL},
                                  relay ? relay_daemon_net(relay) : 0, log, sessiond_is_ready, NULL,
                                  &process, error))
                return false;
        *ret_is_started = true;
        value = daemon_process_to_json(&process);
        if (state_dir_write(directory, SESSIOND, value, error))
                return true;
        daemon_process_stop(&process);
        return false;
}

static bool relay_start(const char *directory, const char *output, RelayDaemon *relay,
                        GError **error)
{
        if (!relay_daemon_start(directory, output, relay, error))
                return false;
        if (relay_daemon_remember(directory, relay, error))
                return true;
        daemon_process_stop(&relay->process);
        return false;
}

static bool relay_ensure(const char *directory, const char *output, SessionSettings *settings,
                         RelayDaemon *relay, SessionStarted *ret_started, GError **error)
{
        g_autofree char *usual = relay_daemon_default_output();

        if (!relay_daemon_remembered(directory, relay) && !relay_daemon_find(relay)) {
                if (!relay_start(directory, output ? output : usual, relay, error))
                        return false;
                ret_started->relayd = true;
        }
        ret_started->relay_user = relay_daemon_other_user(relay);
        g_free(settings->relay_user);
        settings->relay_user = g_strdup(ret_started->relay_user);
        settings->control_port = relay->control_port;
        settings->data_port = relay->data_port;
        settings->live_port = relay->live_port;
        settings->relay = relay->process;
        g_free(settings->relay_output);
        settings->relay_output = g_strdup(relay->output);
        return true;
}

/* Starts the session, and records its directory at the relay daemon. */
static bool session_start(const SessionSettings *settings, GError **error)
{
        bool is_recorded = settings->is_live && settings->relay_output && !settings->keeps_traces;
        g_autoptr(GPtrArray) before =
                is_recorded ? trace_list_find(settings->relay_output, settings->name) : NULL;

        if (!sessiond_start_session(settings, error))
                return false;
        if (is_recorded)
                trace_list_add(settings->relay_output, settings->name, before);
        return true;
}

static void daemon_stop_remembered(const char *directory, const char *file)
{
        json_auto_t *value = state_dir_read(directory, file, NULL);
        const DaemonProcess process = daemon_process_from_json(value);

        daemon_process_stop(&process);
        state_dir_remove(directory, file);
}

/* Stops the daemons that clrsym started and that no session of clrsym needs. */
static void daemons_stop_unneeded(const char *directory)
{
        g_autoptr(GPtrArray) names = state_dir_list(directory, SUFFIX);
        bool has_live = false;
        guint i;

        for (i = 0; i < names->len; i++) {
                g_autoptr(SessionSettings) settings = settings_read(directory, names->pdata[i]);

                has_live = has_live || (settings && settings->is_live);
        }
        if (names->len == 0)
                daemon_stop_remembered(directory, SESSIOND);
        if (!has_live)
                daemon_stop_remembered(directory, RELAY_FILE);
}

void session_started_clear(SessionStarted *started)
{
        g_clear_pointer(&started->relay_user, g_free);
}

bool session_control_start(SessionSettings *settings, const char *relay_output,
                           SessionStarted *ret_started, GError **error)
{
        g_auto(LockedDir) dir = {.lock = -1};
        g_autofree char *file = settings_file_name(settings->name);
        g_auto(RelayDaemon) relay = {0};
        bool ok;

        *ret_started = (SessionStarted){0};
        if (!locked_dir_open(&dir, error))
                return false;
        ok = (!settings->is_live ||
              relay_ensure(dir.path, relay_output, settings, &relay, ret_started, error)) &&
             sessiond_ensure(dir.path, settings->is_live ? &relay : NULL, &ret_started->sessiond,
                             error) &&
             session_start(settings, error);
        if (ok && !settings_write(dir.path, settings, error)) {
                bool is_there;

                sessiond_stop_session(settings->name, &is_there, NULL);
                ok = false;
        }
        if (!ok)
                daemons_stop_unneeded(dir.path);
        return ok;
}

/* The name of the only session that clrsym started; NULL with ERROR set. */
static char *session_only_name(const char *directory, GError **error)
{
        g_autoptr(GPtrArray) names = state_dir_list(directory, SUFFIX);

        if (names->len == 1)
                return g_strdup(names->pdata[0]);
        g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED, "%s",
                    names->len
                            ? "there are several sessions, name one of them: clrsym session list "
                              "shows them"
                            : "there is no session that clrsym started");
        return NULL;
}

bool session_control_stop(const char *name, SessionSettings **ret_settings, GError **error)
{
        g_auto(LockedDir) dir = {.lock = -1};
        g_autofree char *only = NULL, *file = NULL;
        g_autoptr(SessionSettings) settings = NULL;
        bool is_there;

        if (!locked_dir_open(&dir, error))
                return false;
        if (!name)
                name = only = session_only_name(dir.path, error);
        if (!name)
                return false;
        file = settings_file_name(name);
        settings = session_settings_is_name(name) ? settings_read(dir.path, name) : NULL;
        if (!settings) {
                g_set_error(error, LTTNG_ERROR, LTTNG_ERROR_FAILED,
                            "clrsym started no session %s: clrsym session list shows them; lttng "
                            "destroy %s ends one that somebody else started",
                            name, name);
                return false;
        }
        if (!sessiond_stop_session(name, &is_there, error))
                return false;
        state_dir_remove(dir.path, file);
        daemons_stop_unneeded(dir.path);
        *ret_settings = g_steal_pointer(&settings);
        return true;
}

static void settings_destroy(void *settings)
{
        session_settings_free(settings);
}

GPtrArray *session_control_list(GError **error)
{
        g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(settings_destroy);
        g_autoptr(GError) failed = NULL;
        g_autofree char *directory = state_dir_look(&failed);
        g_autoptr(GPtrArray) names = NULL;
        guint i;

        if (failed) {
                g_propagate_error(error, g_steal_pointer(&failed));
                return NULL;
        }
        if (!directory)
                return g_steal_pointer(&list);
        names = state_dir_list(directory, SUFFIX);
        for (i = 0; i < names->len; i++) {
                SessionSettings *settings = settings_read(directory, names->pdata[i]);

                if (settings)
                        g_ptr_array_add(list, settings);
        }
        return g_steal_pointer(&list);
}

SessionSettings *session_control_find(const char *name, GError **error)
{
        g_autofree char *directory = state_dir_look(error);

        return directory && session_settings_is_name(name) ? settings_read(directory, name) : NULL;
}

/* The state of a session. RET_RELAY: the relay daemon that it needs; without a process if it does
 * not run. */
static SessionHealth session_check(const char *directory, const SessionSettings *settings,
                                   RelayDaemon *ret_relay)
{
        bool has_daemon = sessiond_is_running(NULL);
        g_autoptr(GPtrArray) sessions = has_daemon ? sessiond_list_sessions(NULL) : NULL;

        session_health_relay(directory, settings, ret_relay);
        return session_health_of(settings, has_daemon,
                                 sessions ? lttng_session_find(sessions, settings->name) : NULL,
                                 ret_relay);
}

typedef struct CleanRun {
        LockedDir *dir;
        bool (*was_read)(const char *session, gint64 time_us);
} CleanRun;

static bool clean_is_present(void *data, const char *session)
{
        const CleanRun *run = data;
        g_autoptr(SessionSettings) settings = settings_read(run->dir->path, session);

        return settings != NULL;
}

static bool clean_was_read(void *data, const char *session, gint64 time_us)
{
        return ((const CleanRun *)data)->was_read(session, time_us);
}

void session_control_clean(bool (*was_read)(const char *session, gint64 time_us))
{
        static const TraceListCalls CALLS = {
                .is_present = clean_is_present,
                .was_read = clean_was_read,
        };
        g_auto(LockedDir) dir = {.lock = -1};
        CleanRun run = {.dir = &dir, .was_read = was_read};

        if (locked_dir_open(&dir, NULL))
                trace_list_clean(&CALLS, &run);
}

bool session_control_repair(const char *name, bool is_lost, SessionRepair *ret_health,
                            char **ret_what, GError **error)
{
        g_auto(LockedDir) dir = {.lock = -1};
        g_autoptr(SessionSettings) settings = NULL;
        g_auto(RelayDaemon) relay = {0};
        SessionHealth health;
        bool is_new;

        *ret_what = NULL;
        if (!locked_dir_open(&dir, error))
                return false;
        settings = session_settings_is_name(name) ? settings_read(dir.path, name) : NULL;
        *ret_health = REPAIR_NOT_OURS;
        if (!settings || !settings->is_live)
                return true;
        *ret_health = REPAIR_NOT_NEEDED;
        health = session_check(dir.path, settings, &relay);
        if (health == HEALTH_WELL && is_lost)
                health = HEALTH_LOST;
        if (health == HEALTH_WELL || health == HEALTH_STOPPED)
                return true;
        if (!relay.process.pid && settings->relay_user) {
                /* A relay daemon of another user at the ports prevents a restart. */
                *ret_health = REPAIR_WAITS;
                *ret_what = g_strdup_printf("lttng-relayd of %s is gone", settings->relay_user);
                return true;
        }
        if (!relay.process.pid) {
                relay.control_port = settings->control_port;
                relay.data_port = settings->data_port;
                relay.live_port = settings->live_port;
                if (!relay_start(dir.path, settings->relay_output, &relay, error))
                        return false;
        }
        if (!sessiond_ensure(dir.path, &relay, &is_new, error))
                return false;
        sessiond_drop_session(name);
        settings->relay = relay.process;
        if (!session_start(settings, error) || !settings_write(dir.path, settings, error))
                return false;
        *ret_health = REPAIR_DONE;
        *ret_what = g_strdup(session_health_past(health));
        return true;
}
