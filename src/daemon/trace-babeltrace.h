/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace babeltrace: a babeltrace2 of our own that feeds one trace into an ingest session
 *
 * It connects to a socket that only this user can reach, and that is gone once it has. Everything
 * happens on the default main context; nothing blocks.
 */

#include "service/ingest-session.h"

typedef struct TraceBabeltrace TraceBabeltrace;

typedef struct TraceBabeltraceCalls {
        /* It has connected, and reads nothing of the trace before this returns. */
        void (*connected)(void *data);
        /* Bytes of it came, and the session has them already. False: give up. */
        bool (*fed)(void *data, const uint8_t *bytes, size_t n);
        /* It has ended. ERROR (the callee's) says what was wrong; NULL: all of the trace is in. */
        void (*ended)(void *data, GError *error);
} TraceBabeltraceCalls;

/*
 * Starts it on DIRECTORY; with JIT_EVENTS it also sends the events about the JIT's work. SESSION,
 * CALLS and DATA are borrowed. NULL with ERROR set.
 */
TraceBabeltrace *trace_babeltrace_new(const char *directory, bool jit_events,
                                      IngestSession *session, const TraceBabeltraceCalls *calls,
                                      void *data, GError **error);
/* Kills it if it runs, and waits for it. Not from within `connected` and `fed`. */
void trace_babeltrace_free(TraceBabeltrace *babeltrace);

/* 0 once it has ended. */
pid_t trace_babeltrace_pid(const TraceBabeltrace *babeltrace);
