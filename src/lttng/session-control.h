/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Session control: starts, stops and repairs tracing sessions, with the LTTng daemons they need
 *
 * Running daemons are used and left running; missing ones are started, and stopped with the last
 * session that clrsym started.
 */

#include "lttng/relay-daemon.h"
#include "lttng/session-settings.h"

typedef struct SessionStarted {
        bool sessiond; /* lttng-sessiond was started */
        bool relayd;
        char *relay_user; /* owned: the other user who runs the relay daemon; NULL: our own */
} SessionStarted;

void session_started_clear(SessionStarted *started);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(SessionStarted, session_started_clear)

/* Starts a session; fills in the relay's part of SETTINGS. RELAY_OUTPUT: the directory for a relay
 * daemon that is started; NULL: its default. */
bool session_control_start(SessionSettings *settings, const char *relay_output,
                           SessionStarted *ret_started, GError **error);

/* Ends a session that clrsym started, and daemons that are no longer needed. NAME NULL: the only
 * one. RET_SETTINGS: its settings, owned by the caller. */
bool session_control_stop(const char *name, SessionSettings **ret_settings, GError **error);

/* SessionSettings of the sessions that clrsym started; owned elements. NULL with ERROR set. */
GPtrArray *session_control_list(GError **error);
/* The settings of session NAME. NULL without ERROR: clrsym started no session of that name. */
SessionSettings *session_control_find(const char *name, GError **error);

/* Removes the files that ended sessions have left at the relay daemon: see lttng/trace-list.h.
 * WAS_READ: true if a feeder of the session has read all events up to TIME_US (since 1970). */
void session_control_clean(bool (*was_read)(const char *session, gint64 time_us));

typedef enum SessionRepair {
        REPAIR_NOT_NEEDED,
        REPAIR_DONE,     /* something was missing, and was restarted */
        REPAIR_WAITS,    /* for a daemon that another user must start */
        REPAIR_NOT_OURS, /* clrsym did not start the session, and cannot restart it */
} SessionRepair;

/*
 * Checks a live session that clrsym started, and restarts it if it is dead: a session dies with its
 * relay daemon or session daemon. IS_LOST: restart a healthy session, too, because its relay daemon
 * has lost it. RET_WHAT: what was missing, owned by the caller, or NULL.
 */
bool session_control_repair(const char *name, bool is_lost, SessionRepair *ret_health,
                            char **ret_what, GError **error);
