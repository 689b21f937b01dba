/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Horizon requester: while a client waits for the horizon of a process, asks the process's holder
 * to advance it
 *
 * An idle process emits nothing, so nobody knows how far its events have arrived. Its holder can
 * make the runtime write one event. Because that costs the runtime a millisecond, the requester
 * asks only while somebody waits, and rarely. Nothing here blocks; the holder's answer shows in the
 * events that come.
 */

#include "query/query.h"
#include "tracker/tracker.h"

typedef struct HorizonRequester HorizonRequester;

/* TRACKER is borrowed. Never NULL. */
HorizonRequester *horizon_requester_new(const Tracker *tracker);
void horizon_requester_free(HorizonRequester *requester);

/* PATH, the holder's control socket, is copied; NULL: no requests. */
void horizon_requester_configure(HorizonRequester *requester, const char *path);
/* A client waits for WAIT. Processes that no holder feeds are ignored. */
void horizon_requester_want(HorizonRequester *requester, const QueryWait *wait);
