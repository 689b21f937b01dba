/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Horizon requester: while a client waits for the horizon of a process, asks the process's holder
 * for it
 *
 * A process that is idle emits nothing, so nobody knows how far its events have come. Its holder
 * can have the runtime write one event; that costs the runtime a millisecond, so it is asked only
 * while somebody waits, and not often. Nothing here blocks; what the holder does or answers shows
 * in the events that come.
 */

#include "query/query.h"
#include "tracker/tracker.h"

typedef struct HorizonRequester HorizonRequester;

/* TRACKER is borrowed. Never NULL. */
HorizonRequester *horizon_requester_new(const Tracker *tracker);
void horizon_requester_free(HorizonRequester *requester);

/* PATH, the holder's control socket, is copied; NULL: nobody is asked. */
void horizon_requester_configure(HorizonRequester *requester, const char *path);
/* A client waits for that. Processes that no holder feeds are left alone. */
void horizon_requester_want(HorizonRequester *requester, const QueryWait *wait);
