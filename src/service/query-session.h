/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Query session: one client's conversation, without the socket
 *
 * Calls are JSON objects, each ended by a NUL, and so are the replies, in order. A client may send
 * many calls before it reads a reply. It may change to binary frames (Bulk), or listen to news from
 * then on (Watch).
 */

#include "query/query.h"

/* One call, and what may lie unsent before no further call is answered. */
#define QUERY_MAX_CALL   (1u << 20)
#define QUERY_MAX_OUTPUT (4u << 20)

typedef struct QuerySession QuerySession;

/* CONTEXT is copied; what it points to is borrowed. */
QuerySession *query_session_new(const QueryContext *context);
void query_session_free(QuerySession *session);

/* Takes N bytes of the client. */
void query_session_feed(QuerySession *session, const uint8_t *bytes, size_t n);

/*
 * Answers what can be answered now: after bytes came, output was sent, the tracker changed, or
 * NOW_MS (any steady clock) has passed the deadline. Returns the ms after which it is to be called
 * again in any case: 0 if it has taken long enough for now, those to the deadline if a call is
 * waiting for events to come, else -1.
 */
int query_session_run(QuerySession *session, int64_t now_ms);

/* News for one that watches, as of TrackerObserver; then run it. */
bool query_session_is_watching(const QuerySession *session);
void query_session_note_body(QuerySession *session, const Process *process, const Body *body,
                             bool is_end);
void query_session_note_epoch(QuerySession *session, const Process *process);

/* True once the client has sent what is none of its words: an error that says so is the last of the
 * output. */
bool query_session_is_over(const QuerySession *session);
/* True while a call is half received. */
bool query_session_is_partial(const QuerySession *session);
/* False while enough is unanswered: leave further bytes in the socket. */
bool query_session_wants_input(const QuerySession *session);

/* What is to be sent; the caller removes what it has sent. Owned by the session. */
GString *query_session_output(QuerySession *session);
