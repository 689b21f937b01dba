/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Again: asks the holder of attachments to have the code of a process listed once more, after
 * something of the process was missing
 *
 * Off until it is configured. Nothing here blocks, and what the holder does or says only ever shows
 * in counters and one line of the log.
 */

#include "core/tracker.h"
#include "query/query.h"

typedef struct Again Again;

/* TRACKER and STATS are borrowed. Never NULL. */
Again *again_new(const Tracker *tracker, QueryStats *stats);
void again_free(Again *again);

/*
 * For one process it asks at most once in INTERVAL seconds; 0: not at all, also not what was begun.
 * PATH of the holder's control socket is copied.
 */
void again_configure(Again *again, uint64_t interval, const char *path);
/* The tracker may have changed: looked at soon, and all changes of that time at once. */
void again_wake(Again *again);
