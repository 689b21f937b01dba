/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Port: connections to the diagnostic port of a target
 *
 * The runtime listens on a Unix socket in its temporary directory, below its own root directory.
 * The target controls the files there, so the kernel, not a file name, identifies the listener.
 * Sockets of earlier processes, or planted ones, do no harm.
 *
 * Deadlines are in us of g_get_monotonic_time(). No function waits longer, except one more second
 * for an exiting target.
 */

#include "attach/ipc.h"
#include "attach/target.h"

/* Plenty for a working runtime; a garbage collection may delay its answer. */
#define PORT_TIMEOUT (10 * G_TIME_SPAN_SECOND)

/* A new connection, non-blocking, which the caller closes; or -1. */
int port_connect(const Target *target, gint64 deadline, GError **error);

/*
 * Another stream of the target. An exiting runtime writes the rest of a session before it answers,
 * so a caller that waits for an answer must keep reading.
 */
typedef struct PortMeanwhile {
        int fd;                   /* polled for input; -1: none */
        bool (*take)(void *data); /* takes the available bytes; false: end of the stream */
        void *data;
} PortMeanwhile;

typedef struct PortCall {
        int fd;               /* from port_connect(), borrowed */
        const Target *target; /* borrowed */
        gint64 deadline;
        PortMeanwhile meanwhile;
} PortCall;

/* Sends REQUEST and receives the reply. */
bool port_call(PortCall *call, const GByteArray *request, IpcReply *reply, GError **error);

/* Each of these functions sets ERROR, and returns false. */

/* The reply is an error, or not a reply. */
bool port_set_refusal(const IpcReply *reply, const Target *target, GError **error);
/* The connection broke, for the reason ERROR_NUMBER (errno, or 0), or the target has ended. */
bool port_set_hang_up(const Target *target, int error_number, GError **error);
/* The target did not answer in time, or has ended. */
bool port_set_unresponsive(const Target *target, GError **error);
