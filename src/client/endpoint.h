/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Endpoint: where questions are answered, be it a daemon's socket or a child that has read a trace
 */

#include "client/connection.h"
#include "client/message.h"
#include "client/trace-child.h"
#include "clrsym/clrsym.h"

typedef struct Endpoint {
        char *path;       /* owned: of the socket, or of the trace */
        int reconnect_ms; /* 0: a connection that is lost is not made again */
        bool is_trace;
        TraceChild child;
} Endpoint;

/* A daemon that is silent for so long, waiting apart, does not work. */
#define SILENCE_MS 60000

/* Between two attempts to connect. */
#define PAUSE_MS 50

/* How often a call is made that the daemon hung up on. */
#define MAX_TRIES 3

/* Finds the socket; nothing is connected yet. */
int endpoint_init(Endpoint *endpoint, const clrsym_options *options, Message *message);
/* Of a daemon's, one more: it may outlive the first. */
int endpoint_copy(Endpoint *endpoint, const Endpoint *original, Message *message);
void endpoint_deinit(Endpoint *endpoint);

/* Connects, trying for WAIT_MS while there is no daemon. Errors are explained. */
int endpoint_connect(Endpoint *endpoint, Connection *connection, int wait_ms, Message *message);

/*
 * Says what ERROR, of a connection, means; DETAIL, with -EBADMSG, is what was wrong, or NULL.
 * Returns ERROR.
 */
int endpoint_explain(Endpoint *endpoint, int error, const char *detail, Message *message);
