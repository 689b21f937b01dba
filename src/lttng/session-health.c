/* SPDX-License-Identifier: MIT */
#include "lttng/session-health.h"

SessionHealth session_health_of(const SessionSettings *settings, bool has_sessiond,
                                const LttngSession *session, const RelayDaemon *relay)
{
        if (!has_sessiond)
                return HEALTH_NO_SESSIOND;
        if (settings->is_live && !relay->process.pid)
                return HEALTH_NO_RELAYD;
        if (!session)
                return HEALTH_NO_SESSION;
        if (settings->is_live && (relay->process.pid != settings->relay.pid ||
                                  relay->process.start_ticks != settings->relay.start_ticks))
                return HEALTH_OTHER_RELAYD;
        return session->is_active ? HEALTH_WELL : HEALTH_STOPPED;
}

void session_health_relay(const char *directory, const SessionSettings *settings,
                          RelayDaemon *ret_relay)
{
        if (settings->is_live && !relay_daemon_remembered(directory, ret_relay))
                relay_daemon_find_at(settings->live_port, ret_relay);
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
        [HEALTH_OTHER_RELAYD] = {"gone", "lttng-relayd is not the one that the session began with",
                                 "lttng-relayd was replaced"},
        [HEALTH_LOST] = {"gone", "lttng-relayd has lost it", "lttng-relayd had lost it"},
        [HEALTH_UNKNOWN] = {"unknown", "lttng-sessiond does not answer",
                            "lttng-sessiond did not answer"},
};

const char *session_health_name(SessionHealth health)
{
        return TEXTS[health].name;
}

const char *session_health_present(SessionHealth health)
{
        return TEXTS[health].present;
}

const char *session_health_past(SessionHealth health)
{
        return TEXTS[health].past;
}
