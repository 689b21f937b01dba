/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Live sessions: whether LTTng records a process's .NET events now, on their way to a feeder
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Opaque: what was found at one moment. */
typedef struct LiveSessions LiveSessions;

/* Asks the session daemon of our user, in a child process, for some seconds at most. */
LiveSessions *live_sessions_new(void);
void live_sessions_free(LiveSessions *sessions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LiveSessions, live_sessions_free)

/* A session that is active and live has the runtime's events of process VPID, by the pid that it
 * has itself. */
bool live_sessions_have(const LiveSessions *sessions, int32_t vpid);
