/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Port: connections to the diagnostic port of a target
 *
 * The runtime listens on a Unix socket in its temporary directory, below its own root directory.
 * The target controls the files there, so the kernel has to say that it is the target that listens,
 * not a file name. Sockets of earlier processes, or ones put there to deceive, do no harm.
 *
 * Deadlines are in us of g_get_monotonic_time(). Nothing here waits past one, but a second more for
 * a target that is ending.
 */

#include "attach/ipc.h"
#include "attach/target.h"

/* Plenty for a runtime that works; a garbage collection may delay its answer. */
#define PORT_TIMEOUT (10 * G_TIME_SPAN_SECOND)

/* A new connection, non-blocking, which the caller closes; or -1. */
int port_connect(const Target *target, gint64 deadline, GError **error);

/*
 * Something else that the target writes. A runtime that is ending writes the rest of a session
 * before it answers anybody, so who waits for an answer has to read on.
 */
typedef struct PortMeanwhile {
        int fd;                   /* is polled for input; -1: none */
        bool (*take)(void *data); /* takes what has come; false: there will be no more */
        void *data;
} PortMeanwhile;

typedef struct PortCall {
        int fd;               /* of port_connect(), borrowed */
        const Target *target; /* borrowed */
        gint64 deadline;
        PortMeanwhile meanwhile;
} PortCall;

/* Sends REQUEST and receives the reply. */
bool port_call(PortCall *call, const GByteArray *request, IpcReply *reply, GError **error);

/* Each of these sets ERROR, and returns false. */

/* The reply is an error, or not a reply. */
bool port_set_refusal(const IpcReply *reply, const Target *target, GError **error);
/* The connection broke. ERROR_NUMBER: why, by errno, or 0. Or the target has ended. */
bool port_set_hang_up(const Target *target, int error_number, GError **error);
/* The target did not answer in time. Or it has ended. */
bool port_set_unresponsive(const Target *target, GError **error);
