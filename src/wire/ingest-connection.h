/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ingest connection: the daemon's side of the ingest protocol with one feeder, without the socket
 *
 * Bytes in, bytes out. A batch is applied when its COMMIT has come, after all of it was decoded
 * once without an error; until then nothing of it is. A long one can be applied in pieces, as if
 * the feeder had sent several batches, with one acknowledgement at the end. No piece ends between
 * two records of a stream that have one time; those that would make it too long are a gap.
 *
 *            HELLO               a frame that breaks the protocol
 *    HELLO --------> STREAMING -----------------------------------> CLOSED
 *      |                                                              ^
 *      +------------------- anything else than HELLO -----------------+
 */

#include "tracker/tracker.h"
#include "util/peer.h"

typedef struct IngestConnection IngestConnection;

/* TRACKER is borrowed. With HOLD the feeder is asked to wait until ingest_connection_go(). */
IngestConnection *ingest_connection_new(Tracker *tracker, bool hold);
/* Drops what was not acknowledged, and detaches streams that were not closed. */
void ingest_connection_free(IngestConnection *connection);

/*
 * Takes N bytes from the feeder. False once the feeder has broken the protocol: an INGEST_ERROR
 * with the reason is the end of the output, and all further bytes are ignored.
 */
bool ingest_connection_feed(IngestConnection *connection, const uint8_t *bytes, size_t n);
void ingest_connection_go(IngestConnection *connection);

/*
 * For a new connection: it has no place yet. What needs none, the gaps of processes, is taken. Its
 * first STREAM_OPEN, and all that follows, waits for ingest_connection_give_place(); until then the
 * feeder is not greeted.
 */
void ingest_connection_await_place(IngestConnection *connection);
/* A STREAM_OPEN waits. */
bool ingest_connection_wants_place(const IngestConnection *connection);
/* ingest_connection_run() goes on with what waits. */
void ingest_connection_give_place(IngestConnection *connection);

/* From now on batches are applied for so many us, about, and ingest_connection_run() goes on with
 * them; 0: at once, the default. */
void ingest_connection_set_turn(IngestConnection *connection, int64_t turn_us);
/* Goes on. False while something is left to do that needs no further bytes. */
bool ingest_connection_run(IngestConnection *connection);

/* For a peer. A feeder that does not read its acknowledgements is not read from either. */
Conversation *ingest_connection_conversation(IngestConnection *connection);

/* Keeps accepted frames, so that they can be fed again later. */
typedef struct IngestSink {
        /* A STREAM_OPEN with its header, before it has any effect. */
        void (*open)(void *data, const uint8_t *frame, size_t n);
        /* A valid batch without its COMMIT, or a piece of it, before any of that is applied. */
        void (*batch)(void *data, const uint8_t *frames, size_t n);
        /* That has been applied; the batch is acknowledged after this. */
        void (*applied)(void *data);
        void *data;
} IngestSink;

/* SINK is borrowed as long as the connection is fed. */
void ingest_connection_set_sink(IngestConnection *connection, const IngestSink *sink);

/* The streams by number, borrowed TrackerStreams; NULL: closed. Owned by the connection. */
const GPtrArray *ingest_connection_streams(const IngestConnection *connection);
/* Makes a new connection one that has been greeted and has those streams open. */
void ingest_connection_restore(IngestConnection *connection, const GPtrArray *streams);

/* What is to be sent; the caller removes what it has sent. Owned by the connection. */
GByteArray *ingest_connection_output(IngestConnection *connection);

/* The feeder's last REPORT; zero before it. */
const FeederReport *ingest_connection_report(const IngestConnection *connection);
/* Batches applied. */
uint64_t ingest_connection_n_commits(const IngestConnection *connection);
/* Pieces of them. */
uint64_t ingest_connection_n_pieces(const IngestConnection *connection);
/* How the feeder broke the protocol, or NULL. */
const char *ingest_connection_error(const IngestConnection *connection);
