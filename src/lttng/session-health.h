/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * SessionSession health: whether a session works, or which part of it is missing
 *
 * A live session goes through a relay daemon. It dies with the relay daemon or the session daemon;
 * another daemon in its directory does not bring it back.
 */

#include "lttng/relay-daemon.h"
#include "lttng/session-settings.h"
#include "lttng/sessiond.h"

typedef enum SessionHealth {
        HEALTH_WELL,
        HEALTH_STOPPED, /* it exists, and records nothing */
        HEALTH_NO_SESSIOND,
        HEALTH_NO_RELAYD,
        HEALTH_NO_SESSION,
        HEALTH_OTHER_RELAYD, /* not the one that it was created with */
        HEALTH_LOST,         /* reported by its feeder; never found here */
        HEALTH_UNKNOWN,      /* the session daemon does not answer */
        _HEALTH_MAX,
} SessionHealth;

/* SESSION is the session daemon's session with the name of SETTINGS, or NULL. RELAY is the relay
 * daemon that a live session needs, without a process if it does not run. */
SessionHealth session_health_of(const SessionSettings *settings, bool has_sessiond,
                                const LttngSession *session, const RelayDaemon *relay);

/* The relay daemon that a live session needs, if it runs. DIRECTORY is the state directory. */
void session_health_relay(const char *directory, const SessionSettings *settings,
                          RelayDaemon *ret_relay);

/* "active", "stopped", "gone", "unknown"; static. */
const char *session_health_name(SessionHealth health);
/* "lttng-relayd is gone", "lttng-relayd was gone"; static. NULL: nothing is missing. */
const char *session_health_present(SessionHealth health);
const char *session_health_past(SessionHealth health);
