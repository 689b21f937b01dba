/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Health: whether a session of ours still works, or what of it is missing
 *
 * A live session goes through a relay daemon. With that, or with the session daemon, it dies; that
 * another one came in its place does not bring it back.
 */

#include "session/relay.h"
#include "session/settings.h"
#include "session/tracing.h"

typedef enum Health {
        HEALTH_WELL,
        HEALTH_STOPPED, /* it is there, and records nothing */
        HEALTH_NO_SESSIOND,
        HEALTH_NO_RELAYD,
        HEALTH_NO_SESSION,
        HEALTH_OTHER_RELAYD, /* than the one that it was made with */
        HEALTH_UNKNOWN,      /* the session daemon does not answer */
        _HEALTH_MAX,
} Health;

/*
 * SESSION is what the session daemon has under the name of SETTINGS, or NULL; RELAY is the one that
 * it has to go through, without a service if that does not run; not looked at unless it is live.
 */
Health health_of(const Settings *settings, bool has_sessiond, const TracingSession *session,
                 const Relay *relay);

/* The relay that a live session has to go through, if it runs; PLACE is where it was started. */
void health_relay(const char *place, const Settings *settings, Relay *ret_relay);

/* "active", "stopped", "gone", "unknown"; static. */
const char *health_name(Health health);
/* "lttng-relayd is gone", and "lttng-relayd was gone"; static, NULL: nothing is missing. */
const char *health_present(Health health);
const char *health_past(Health health);
