/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * babeltrace2 as a child process, with sink.clrsym.feed connected to us over a private socket
 *
 * The socket accepts one connection and is removed after that. Everything happens on the default
 * main context; nothing blocks.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct BabeltraceChild BabeltraceChild;

typedef struct BabeltraceChildSettings {
        const char *source;    /* a directory */
        const char *directory; /* for the socket, mode 0700; NULL: one is made and removed */
        const char *name;      /* of the socket in it */
        bool jit_events;       /* also sends the events about the JIT's work */
} BabeltraceChildSettings;

typedef struct BabeltraceChildCalls {
        /* Called at most once. The callee owns FD; it is non-blocking. */
        void (*connected)(void *data, int fd);
        /*
         * The child has ended and was waited for; its connection may still hold bytes. REASON
         * (borrowed) is one line; NULL: it succeeded. The child may be freed here.
         */
        void (*ended)(void *data, const char *reason);
} BabeltraceChildCalls;

/* SETTINGS is not kept; CALLS and DATA are borrowed. NULL with ERROR set. */
BabeltraceChild *babeltrace_child_new(const BabeltraceChildSettings *settings,
                                      const BabeltraceChildCalls *calls, void *data,
                                      GError **error);
/* Kills it if it runs, and waits for it; `ended` is not called. NULL is fine. */
void babeltrace_child_free(BabeltraceChild *child);

/* Asks it to send what it has and to end (SIGINT). */
void babeltrace_child_stop(const BabeltraceChild *child);
/* Ends it at once (SIGKILL); `ended` is called later. */
void babeltrace_child_kill(const BabeltraceChild *child);
/* 0 after it has ended. */
pid_t babeltrace_child_pid(const BabeltraceChild *child);
