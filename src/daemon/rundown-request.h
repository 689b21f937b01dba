/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rundown requester: asks the holder of attachments for another rundown of a process, after a gap
 * in the process's events
 *
 * Off until it is configured. Nothing here blocks. What the holder does or answers only shows in
 * counters and in one line of the log.
 */

#include "query/query.h"
#include "tracker/tracker.h"

typedef struct RundownRequester RundownRequester;

/* TRACKER and STATS are borrowed. Never NULL. */
RundownRequester *rundown_requester_new(const Tracker *tracker, QueryStats *stats);
void rundown_requester_free(RundownRequester *requester);

/*
 * Asks at most once in INTERVAL seconds for one process. 0 turns it off, and drops the requests
 * under way. PATH, the holder's control socket, is copied.
 */
void rundown_requester_configure(RundownRequester *requester, uint64_t interval, const char *path);
/* The tracker may have changed. It is looked at a second later, once for all changes until then. */
void rundown_requester_wake(RundownRequester *requester);
