/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace list: the directories that live sessions of clrsym have among the relay daemon's files
 *
 * Each start and each repair of a session makes a directory, of up to its --disk for each user, and
 * the relay daemon never removes any. So the list records them, and they are removed once they have
 * ended and no feeder needs them. The list is in $CLRSYM_SESSIONS, else in $XDG_STATE_HOME/clrsym
 * (~/.local/state/clrsym): it outlives a boot, as the directories do.
 */

#include <glib.h>
#include <stdbool.h>

/* s. If there is a newer session, a feeder does not read older events. */
#define TRACE_MAX_AGE 3600

/* The directories of a session below the relay daemon's OUTPUT, this machine's; owned paths. */
GPtrArray *trace_list_find(const char *output, const char *session);

/*
 * Records the directories of SESSION below OUTPUT that are not among BEFORE: the newest is that of
 * the present session. Without effect if the list cannot be written.
 */
void trace_list_add(const char *output, const char *session, const GPtrArray *before);

typedef struct TraceListCalls {
        /* The session exists: its newest directory is in use. */
        bool (*is_present)(void *data, const char *session);
        /* A feeder of the session has read all events up to TIME_US (since 1970). */
        bool (*was_read)(void *data, const char *session, gint64 time_us);
} TraceListCalls;

/* Removes the recorded directories that have ended, and were read or are too old to be read. */
void trace_list_clean(const TraceListCalls *calls, void *data);
