/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process watch: notices the end of this host's processes without an exit event
 *
 * A process has no exit event if it was killed, or if its session was stopped before its end. New
 * processes of the tracker are looked up in /proc, and watched by pidfd. Only certain facts count:
 * the end of a process that was found; or, in the daemon's own pid namespace, a pid that is unused
 * or belongs to a program started later.
 */

#include "tracker/tracker.h"

#include <sys/types.h>

typedef struct ProcessWatch ProcessWatch;

typedef struct ProcessWatchCalls {
        /* The process has ended by TIME, ns of CLOCK_MONOTONIC. */
        void (*ended)(void *data, uint64_t serial, uint64_t time);
        /* The process runs; COMMAND is the beginning of its command line, in UTF-8. */
        void (*found)(void *data, uint64_t serial, const char *command);
        void *data;
} ProcessWatchCalls;

/* TRACKER is borrowed, CALLS are copied. Never NULL. */
ProcessWatch *process_watch_new(const Tracker *tracker, const ProcessWatchCalls *calls);
void process_watch_free(ProcessWatch *watch);
/* The tracker may have changed. The watch checks a moment later. */
void process_watch_wake(ProcessWatch *watch);
