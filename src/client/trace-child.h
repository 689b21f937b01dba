/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace child: a clrsymd of our own, which has read a trace and answers about it on sockets that it
 * got from us, until they close
 */

#include "client/message.h"
#include "clrsym/clrsym.h"

#include <sys/types.h>

typedef struct TraceChild {
        int pid_fd;  /* -1: there is none, or it is reaped */
        int said_fd; /* a file in memory: its stderr */
} TraceChild;

#define TRACE_CHILD_NONE                                                                           \
        (TraceChild)                                                                               \
        {                                                                                          \
                -1, -1                                                                             \
        }

/* Connections to it: one for calls, one for batches. */
#define TRACE_CHILD_FDS 2

/* Starts it. RET_FDS are the caller's, blocking and close-on-exec. */
int trace_child_start(TraceChild *child, const clrsym_options *options,
                      int ret_fds[TRACE_CHILD_FDS], Message *message);

/* It hung up: says why, as well as can be known. Returns -ECONNRESET. */
int trace_child_explain(TraceChild *child, const char *trace, Message *message);

/* Ends it, once our ends of its connections are closed, and reaps it. */
void trace_child_end(TraceChild *child);
