/* SPDX-License-Identifier: MIT */
#pragma once

/* Endpoint: a daemon's socket, or a child that has read a trace, which answers questions */

#include "client/connection.h"
#include "client/message.h"
#include "client/trace-child.h"
#include "clrsym/clrsym.h"

typedef struct Endpoint {
        char *path;       /* owned: path of the socket, or of the trace */
        int reconnect_ms; /* 0: a lost connection is not restored */
        bool is_trace;
        TraceChild child;
} Endpoint;

/* ms after which a silent daemon is unresponsive; the time that it may wait is added. */
#define UNRESPONSIVE_MS 60000

/* ms between two attempts to connect. */
#define PAUSE_MS 50

/* Tries of a call on which the daemon disconnects. */
#define MAX_TRIES 3

/* Finds the socket; does not connect. */
int endpoint_init(Endpoint *endpoint, const clrsym_options *options, Message *message);
/* The same daemon's socket for another object, which may outlive the first. */
int endpoint_copy(Endpoint *endpoint, const Endpoint *original, Message *message);
void endpoint_deinit(Endpoint *endpoint);

/* Connects; retries for WAIT_MS while there is no daemon. The message explains an error. */
int endpoint_connect(Endpoint *endpoint, Connection *connection, int wait_ms, Message *message);

/* Explains ERROR of a connection in the message. DETAIL: the error, with -EBADMSG, or NULL. Returns
 * ERROR. */
int endpoint_explain(Endpoint *endpoint, int error, const char *detail, Message *message);
