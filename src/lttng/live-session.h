/* SPDX-License-Identifier: MIT */
#pragma once

/* Live sessions: whether LTTng records a process's .NET events now, for a feeder */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Opaque: the sessions of one moment. */
typedef struct LiveSessions LiveSessions;

/* Asks the session daemon of our user, in a child process, for some seconds at most. */
LiveSessions *live_sessions_new(void);
void live_sessions_free(LiveSessions *sessions);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(LiveSessions, live_sessions_free)

/* True if an active live session has the runtime's events of process VPID, its pid in its own
 * namespace. */
bool live_sessions_have(const LiveSessions *sessions, int32_t vpid);
