/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Port: connections to the diagnostic port of a target
 *
 * The runtime listens on a Unix socket in its temporary directory, below its own root directory.
 * Files there are the target's to make: that it is the target that listens is the kernel's word,
 * not that of the file's name. So what earlier processes left there does no harm, nor does what
 * lies there to deceive.
 *
 * Nothing here waits past a deadline (of g_get_monotonic_time()), but a moment for a target that
 * ends.
 */

#include "attach/ipc.h"
#include "attach/target.h"

/* Plenty for a runtime that works; a collection of garbage may be in the way of its answer. */
#define PORT_TIMEOUT (10 * G_TIME_SPAN_SECOND)

/* A new connection, non-blocking, or -1. */
int port_connect(const Target *target, gint64 deadline, GError **error);

/* Sends REQUEST, which it takes over, and receives the reply. */
bool port_call(int fd, const Target *target, GByteArray *request, gint64 deadline, IpcReply *reply,
               GError **error);

/* ERROR for a reply that is an error or none; false. */
bool port_refusal(const IpcReply *reply, const Target *target, GError **error);

/*
 * ERROR for a connection that broke, so that what was to be told may not have been heard; false.
 * ERROR_NUMBER: why, by errno, or 0. It may be that the target has ended.
 */
bool port_hang_up(const Target *target, int error_number, GError **error);

/* ERROR for one that does not answer in time; false. */
bool port_silence(const Target *target, GError **error);
