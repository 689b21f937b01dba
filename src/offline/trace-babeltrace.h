/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace babeltrace: a babeltrace2 child that feeds one trace into an ingest connection
 */

#include "wire/ingest-connection.h"

typedef struct TraceBabeltrace TraceBabeltrace;

typedef struct TraceBabeltraceCalls {
        /* It has connected, and reads nothing of the trace before this returns. */
        void (*connected)(void *data);
        /* Bytes arrived, and the connection has taken them already. False: give up. */
        bool (*fed)(void *data, const uint8_t *bytes, size_t n);
        /* It has ended. The callee owns ERROR; NULL: the whole trace was read. */
        void (*ended)(void *data, GError *error);
} TraceBabeltraceCalls;

/*
 * Starts it on DIRECTORY; with JIT_EVENTS it also sends the events about the JIT's work. SESSION,
 * CALLS and DATA are borrowed. NULL with ERROR set.
 */
TraceBabeltrace *trace_babeltrace_new(const char *directory, bool jit_events,
                                      IngestConnection *session, const TraceBabeltraceCalls *calls,
                                      void *data, GError **error);
/* Kills it if it runs, and waits for it. Not from within `connected` and `fed`. */
void trace_babeltrace_free(TraceBabeltrace *babeltrace);

/* 0 once it has ended. */
pid_t trace_babeltrace_pid(const TraceBabeltrace *babeltrace);
