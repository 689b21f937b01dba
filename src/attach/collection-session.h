/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Collection session: a second session of a target, whose stream becomes its logs of collections
 * and of async events
 */

#include "attach/collection-log.h"
#include "attach/eventpipe-session.h"

typedef struct CollectionSession {
        CollectionLog *log; /* owned; NULL: no log is wanted */
        EventPipeSession session;
        bool is_complete; /* the session was stopped, and its stream read to the end */
        EventPipeSession
                flush;        /* see collection_session_begin_flush(); fd -1: no flush is running */
        uint64_t flush_begin; /* ns of CLOCK_MONOTONIC */
        gint64 flush_end;     /* us of g_get_monotonic_time() */
        uint64_t wanted_flush; /* ns: earliest begin of the next flush; 0: none is wanted */
} CollectionSession;

#define COLLECTION_SESSION_INIT                                                                    \
        {                                                                                          \
                .session.fd = -1, .flush.fd = -1                                                   \
        }

/* PATH: the attachment's file. THREADS: borrowed. Does nothing if no log is wanted. False with
 * ERROR set: the target refuses a session. */
bool collection_session_open(CollectionSession *session, const char *path, const Target *target,
                             TargetThreads *threads, int64_t clock_ahead, GError **error);
/* Call this after the target has ended; it writes the rest. */
void collection_session_end(CollectionSession *session);
void collection_session_stop(CollectionSession *session, const Target *target);
/* Makes the target's threads write their buffers, and takes them. Call this before this session or
 * HELD, the one beside it, is stopped. */
void collection_session_flush(CollectionSession *session, const Target *target,
                              const EventPipeSession *held);
/*
 * The same without waiting, and without stopping a session: the log tells when all events before
 * now have come. After the begin, call collection_session_serve() until
 * collection_session_timeout() is negative. Does nothing for a target without async events.
 */
void collection_session_begin_flush(CollectionSession *session, const Target *target);
void collection_session_serve(CollectionSession *session, const Target *target);
/* ms until the next call; -1: no call is needed. */
int collection_session_timeout(const CollectionSession *session);
void collection_session_close(CollectionSession *session);
