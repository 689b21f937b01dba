/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rundown requester: after a gap in a process's events, asks the holder of attachments for another
 * rundown
 *
 * Off until it is configured. Nothing here blocks. The holder's answers only show in counters and
 * in one line of the log.
 */

#include "query/query.h"
#include "tracker/tracker.h"

typedef struct RundownRequester RundownRequester;

/* TRACKER and STATS are borrowed. Never NULL. */
RundownRequester *rundown_requester_new(const Tracker *tracker, QueryStats *stats);
void rundown_requester_free(RundownRequester *requester);

/*
 * Asks at most once in INTERVAL seconds about one process. 0 turns it off, and drops the requests
 * in progress. PATH, the holder's control socket, is copied.
 */
void rundown_requester_configure(RundownRequester *requester, uint64_t interval, const char *path);
/* The tracker may have changed. One check a second later covers all changes until then. */
void rundown_requester_wake(RundownRequester *requester);
