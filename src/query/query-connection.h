/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Query connection: the conversation with one client
 *
 * Calls are JSON objects, each followed by a NUL; replies come in the same form and order. A client
 * may send many calls before it reads a reply. It may change to binary frames (Bulk), or to events
 * (Watch).
 */

#include "query/query.h"
#include "util/peer.h"

/* Most bytes of a call. */
#define QUERY_MAX_CALL (1u << 20)

typedef struct QueryConnection QueryConnection;

/* CONTEXT is copied; its pointers are borrowed. */
QueryConnection *query_connection_new(const QueryContext *context);
void query_connection_free(QueryConnection *connection);
/* The connection's bytes, for a peer. */
Conversation *query_connection_conversation(QueryConnection *connection);

/* Takes N bytes from the client. */
void query_connection_feed(QueryConnection *connection, const uint8_t *bytes, size_t n);

/*
 * Answers all calls that can be answered now. Call it after receiving bytes, sending output or a
 * change of the tracker, and when NOW_MS (of any steady clock) has passed the deadline. Returns the
 * ms until the next necessary call: 0 if its turn is over; the ms to the deadline if a call waits
 * for events; else -1.
 */
int query_connection_run(QueryConnection *connection, int64_t now_ms);

/* Events for a watching client, see TrackerObserver. Call query_connection_run() afterwards. */
bool query_connection_is_watching(const QueryConnection *connection);
void query_connection_note_body(QueryConnection *connection, const Process *process,
                                const Body *body, bool is_end);
void query_connection_note_epoch(QueryConnection *connection, const Process *process);

/* Bytes of its calls and replies in memory. */
size_t query_connection_size(const QueryConnection *connection);
/* True if the client watches, or if its waiting call may continue after a change of the tracker. */
bool query_connection_may_go_on(const QueryConnection *connection);
/* The condition that a call waits for, borrowed; NULL: no call waits. */
const QueryWait *query_connection_wait(const QueryConnection *connection);
/* True if there is nothing to answer, to watch or to send. */
bool query_connection_is_idle(const QueryConnection *connection);
/* True after a violation of the protocol: the output ends with an error that explains it. */
bool query_connection_is_over(const QueryConnection *connection);
/* True while a call or frame is incomplete. */
bool query_connection_is_partial(const QueryConnection *connection);
/* False while too many calls are unanswered: further bytes stay in the socket. */
bool query_connection_wants_input(const QueryConnection *connection);

/* Output to send. Owned by the connection; the caller removes sent bytes. */
GString *query_connection_output(QueryConnection *connection);
