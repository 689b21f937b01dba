/* SPDX-License-Identifier: MIT */
#include "session/health.h"

Health health_of(const Settings *settings, bool has_sessiond, const TracingSession *session,
                 const Relay *relay)
{
        if (!has_sessiond)
                return HEALTH_NO_SESSIOND;
        if (settings->is_live && !relay->service.pid)
                return HEALTH_NO_RELAYD;
        if (!session)
                return HEALTH_NO_SESSION;
        if (settings->is_live && (relay->service.pid != settings->relay.pid ||
                                  relay->service.start_ticks != settings->relay.start_ticks))
                return HEALTH_OTHER_RELAYD;
        return session->is_active ? HEALTH_WELL : HEALTH_STOPPED;
}

void health_relay(const char *place, const Settings *settings, Relay *ret_relay)
{
        if (settings->is_live && !relay_remembered(place, ret_relay))
                relay_find_at(settings->live_port, ret_relay);
}

static const struct {
        const char *name, *present, *past;
} TEXTS[_HEALTH_MAX] = {
        [HEALTH_WELL] = {"active", NULL, NULL},
        [HEALTH_STOPPED] = {"stopped", NULL, NULL},
        [HEALTH_NO_SESSIOND] = {"gone", "lttng-sessiond is gone", "lttng-sessiond was gone"},
        [HEALTH_NO_RELAYD] = {"gone", "lttng-relayd is gone", "lttng-relayd was gone"},
        [HEALTH_NO_SESSION] = {"gone", "lttng-sessiond does not have it any more",
                               "the session was gone"},
        [HEALTH_OTHER_RELAYD] = {"gone", "lttng-relayd is another one than it began with",
                                 "lttng-relayd was another one"},
        [HEALTH_UNKNOWN] = {"unknown", "lttng-sessiond does not answer",
                            "lttng-sessiond did not answer"},
};

const char *health_name(Health health)
{
        return TEXTS[health].name;
}

const char *health_present(Health health)
{
        return TEXTS[health].present;
}

const char *health_past(Health health)
{
        return TEXTS[health].past;
}
