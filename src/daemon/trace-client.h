/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace client: a connection that a trace server answers
 *
 * The first one's first call is ReadTrace, answered with progress while the trace is read; from
 * then on it is a client like a daemon's, for whom no further events come. Others are so at once.
 */

#include "daemon/peer.h"
#include "query/query.h"

typedef struct TraceClient TraceClient;

typedef struct TraceClientCalls {
        /* ReadTrace was called: begin. May end in trace_client_fail() at once. */
        void (*read)(void *data);
        /* How far it is, in bytes. */
        void (*progress)(void *data, uint64_t *ret_read, uint64_t *ret_total);
} TraceClientCalls;

/* A TraceClient is a session of this role. */
extern const PeerRole TRACE_CLIENT_ROLE;

/* CONTEXT is copied, and used once the trace is read; the rest is borrowed. */
TraceClient *trace_client_new(const QueryContext *context, const TraceClientCalls *calls,
                              void *data);

/* One that need not call ReadTrace, for the trace is in. */
void trace_client_answer(TraceClient *client);

/* All has been read, TOTAL bytes: the last reply of ReadTrace, and answers from here on. */
void trace_client_ready(TraceClient *client, uint64_t total);
/* It could not be read, as MESSAGE says: the connection is over. */
void trace_client_fail(TraceClient *client, const char *message);
