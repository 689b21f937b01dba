/* SPDX-License-Identifier: MIT */
#pragma once

/* Trace child: a clrsymd that this library starts. It reads a trace and answers questions on
 * inherited sockets, until they are closed. */

#include "client/message.h"
#include "clrsym/clrsym.h"

#include <sys/types.h>

typedef struct TraceChild {
        int pid_fd;    /* -1: none, or reaped */
        int stderr_fd; /* a file in memory: its stderr */
} TraceChild;

#define TRACE_CHILD_NONE                                                                           \
        (TraceChild)                                                                               \
        {                                                                                          \
                -1, -1                                                                             \
        }

/* Connections to the child: one for calls, one for batches. */
#define TRACE_CHILD_FDS 2

/* Starts the child. The caller owns RET_FDS, which are blocking and close-on-exec. */
int trace_child_start(TraceChild *child, const clrsym_options *options,
                      int ret_fds[TRACE_CHILD_FDS], Message *message);

/* The child disconnected: explains the reason in the message, if it is known. Returns -ECONNRESET.
 */
int trace_child_explain(TraceChild *child, const char *trace, Message *message);

/* Ends and reaps the child; to be called after the connections are closed. */
void trace_child_end(TraceChild *child);
