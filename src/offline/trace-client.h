/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Trace client: a connection that a trace server answers
 *
 * The first client's first call is ReadTrace, answered with progress while the trace is read. Then
 * it is like a daemon's client, but no further events come. Other connections are like that from
 * the beginning.
 */

#include "query/query.h"
#include "util/peer.h"

typedef struct TraceClient TraceClient;

typedef struct TraceClientCalls {
        /* ReadTrace was called: begin to read. May call trace_client_fail() at once. */
        void (*read)(void *data);
        /* How much was read, in bytes. */
        void (*progress)(void *data, uint64_t *ret_read, uint64_t *ret_total);
} TraceClientCalls;

/* CONTEXT is copied, and used once the trace is read; the rest is borrowed. */
TraceClient *trace_client_new(const QueryContext *context, const TraceClientCalls *calls,
                              void *data);
void trace_client_free(TraceClient *client);
/* The client as a conversation of a peer. */
Conversation *trace_client_conversation(TraceClient *client);

/* For a client that need not call ReadTrace, because the trace has been read. */
void trace_client_answer(TraceClient *client);

/* All TOTAL bytes have been read: sends the last reply of ReadTrace, and answers calls from now on.
 * NOTE is for people; NULL: none. */
void trace_client_ready(TraceClient *client, uint64_t total, const char *note);
/* The trace could not be read, because of MESSAGE: the connection ends. */
void trace_client_fail(TraceClient *client, const char *message);
