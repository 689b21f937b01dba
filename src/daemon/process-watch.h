/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process watch: notices when processes of this host end without an event that says so
 *
 * A process that is killed, or whose session was stopped before it ended, has no exit event. New
 * processes of the tracker are looked up in /proc, and watched by pidfd. Only what is certain
 * counts: a process that was found and has ended since, or one of our own pid namespace whose pid
 * is unused or belongs to a program that was started later.
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
/* The tracker may have changed. It is looked at a moment later. */
void process_watch_wake(ProcessWatch *watch);
