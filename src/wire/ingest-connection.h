/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ingest connection: the daemon's side of the ingest protocol with one feeder, without the socket
 *
 * Bytes in, bytes out. A batch is applied when its COMMIT has come, after all of it was decoded
 * once without an error; before that it has no effect. A long batch can be applied in pieces, like
 * several batches, with one acknowledgement at the end. No piece ends between two records of a
 * stream with one time; records that would make it too long become a gap.
 *
 *            HELLO               a frame that breaks the protocol
 *    HELLO --------> STREAMING -----------------------------------> CLOSED
 *      |                                                              ^
 *      +------------------- anything else than HELLO -----------------+
 */

#include "tracker/tracker.h"
#include "util/peer.h"

typedef struct IngestConnection IngestConnection;

/* TRACKER is borrowed. With HOLD the feeder gets an order to wait until ingest_connection_go(). */
IngestConnection *ingest_connection_new(Tracker *tracker, bool hold);
/* Drops unacknowledged frames, and detaches streams that were not closed. */
void ingest_connection_free(IngestConnection *connection);

/*
 * Takes N bytes from the feeder. False after the feeder has broken the protocol: the output ends
 * with an INGEST_ERROR with the reason, and all further bytes are ignored.
 */
bool ingest_connection_feed(IngestConnection *connection, const uint8_t *bytes, size_t n);
void ingest_connection_go(IngestConnection *connection);

/*
 * Call it for a new connection: the connection has no place yet. Frames that need no place, the
 * gaps of processes, are accepted. Its first STREAM_OPEN, and everything after it, waits for
 * ingest_connection_give_place(); until then the feeder is not greeted.
 */
void ingest_connection_await_place(IngestConnection *connection);
/* True if a STREAM_OPEN waits. */
bool ingest_connection_wants_place(const IngestConnection *connection);
/* ingest_connection_run() continues with the waiting frames. */
void ingest_connection_give_place(IngestConnection *connection);

/*
 * From now on batches are applied in turns of about TURN_US, and ingest_connection_run() continues
 * them; 0: at once, the default.
 */
void ingest_connection_set_turn(IngestConnection *connection, int64_t turn_us);
/* Continues. False while work is left that needs no further bytes. */
bool ingest_connection_run(IngestConnection *connection);

/* For a peer. If a feeder does not read its acknowledgements, its bytes are not read either. */
Conversation *ingest_connection_conversation(IngestConnection *connection);

/* Keeps accepted frames, so that they can be fed again later. */
typedef struct IngestSink {
        /* A STREAM_OPEN with its header, before it has any effect. */
        void (*open)(void *data, const uint8_t *frame, size_t n);
        /* A valid batch without its COMMIT, or a piece of it, before any of that is applied. */
        void (*batch)(void *data, const uint8_t *frames, size_t n);
        /* The frames have been applied; the batch is acknowledged after this. */
        void (*applied)(void *data);
        void *data;
} IngestSink;

/* SINK is borrowed while the connection is fed. */
void ingest_connection_set_sink(IngestConnection *connection, const IngestSink *sink);

/* The streams by number, borrowed TrackerStreams; NULL: closed. Owned by the connection. */
const GPtrArray *ingest_connection_streams(const IngestConnection *connection);
/* Makes a new connection a greeted one with those open streams. */
void ingest_connection_restore(IngestConnection *connection, const GPtrArray *streams);

/* Output to be sent; the caller removes the sent bytes. Owned by the connection. */
GByteArray *ingest_connection_output(IngestConnection *connection);

/* The feeder's last REPORT; zero before it. */
const FeederReport *ingest_connection_report(const IngestConnection *connection);
/* Batches applied. */
uint64_t ingest_connection_n_commits(const IngestConnection *connection);
/* Pieces of batches applied. */
uint64_t ingest_connection_n_pieces(const IngestConnection *connection);
/* The feeder's breach of the protocol, or NULL. */
const char *ingest_connection_error(const IngestConnection *connection);
