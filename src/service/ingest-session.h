/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ingest session: one feeder's conversation, without the socket
 *
 * Bytes in, bytes out. What a batch holds is applied when its COMMIT has come and all of it has
 * been read through; until then nothing of it is.
 */

#include "core/tracker.h"

typedef struct IngestSession IngestSession;

/* TRACKER is borrowed. With HOLD the feeder is told to wait until ingest_session_go(). */
IngestSession *ingest_session_new(Tracker *tracker, bool hold);
/* Drops what was not committed; streams that were not closed are detached. */
void ingest_session_free(IngestSession *session);

/*
 * Takes N bytes from the feeder. False once the conversation is over, because the feeder broke the
 * protocol: an INGEST_ERROR that says how is the last of the output.
 */
bool ingest_session_feed(IngestSession *session, const uint8_t *bytes, size_t n);
void ingest_session_go(IngestSession *session);

/* Who keeps what comes, to be fed with it again another time. */
typedef struct IngestSink {
        /* A STREAM_OPEN, whole; before it has any effect. */
        void (*open)(void *data, const uint8_t *frame, size_t n);
        /* A batch, without its COMMIT and found good; before any of it is applied. */
        void (*batch)(void *data, const uint8_t *frames, size_t n);
        /* All of it has been applied, and is to be acknowledged now. */
        void (*applied)(void *data);
        void *data;
} IngestSink;

/* SINK (borrowed) has to be there as long as the session is fed. */
void ingest_session_set_sink(IngestSession *session, const IngestSink *sink);

/* The streams by number, borrowed TrackerStreams; NULL: closed. Owned by the session. */
const GPtrArray *ingest_session_streams(const IngestSession *session);
/* On a new session: greeted, and with those streams, which are open. */
void ingest_session_restore(IngestSession *session, const GPtrArray *streams);

/* What is to be sent; the caller removes what it has sent. Owned by the session. */
GByteArray *ingest_session_output(IngestSession *session);

/* What the feeder last said of its counters. */
const IngestReport *ingest_session_report(const IngestSession *session);
/* Batches applied. */
uint64_t ingest_session_n_commits(const IngestSession *session);
/* NULL, or how the feeder broke the protocol. */
const char *ingest_session_error(const IngestSession *session);
