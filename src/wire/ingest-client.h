/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ingest client: a feeder's side of the ingest protocol, without the socket
 *
 * Bytes in, bytes out: the host connects, hands over the received bytes, and sends the client's
 * output. The host asks for events one at a time; nothing calls back.
 *
 *             ingest_client_connect()          HELLO           GO
 *    OFFLINE ------------------------> GREETING -----> HELD <------> GOING
 *       ^                                  |             |    HOLD     |
 *       |                                  +-------------+-------------+
 *       |                                                | ERROR, or a frame that breaks
 *       |    ingest_client_disconnect()                  v the protocol
 *       +---------- from every state ----------------- FAILED
 *
 * Streams. ingest_client_open() sends STREAM_OPEN at once; the reply, INGEST_CLIENT_ACK, has the
 * stream's watermark. A stream is closing after the commit of its STREAM_CLOSE, and is freed when
 * that batch is acknowledged. Its number is reused, but only after all numbers below
 * INGEST_MAX_STREAMS have been used, because older daemons do not know reuse.
 *
 * Batches. Frames are gathered in ingest_client_batch() until ingest_client_commit(). A batch never
 * ends between two records of equal time, because the daemon drops records at or below the time of
 * a stream's last record. ORDER, in ns since 1970, compares times of several streams.
 *
 * Reconnecting. A client that keeps its batches has each one until it is acknowledged. After the
 * next ingest_client_connect() it opens all open streams again, with new numbers; reports for each
 * the acknowledged time, because the daemon would otherwise see a gap; and resends the batches, of
 * which the daemon drops the known part. A client that does not keep batches has no streams and no
 * batches after ingest_client_disconnect(): its host starts over.
 */

#include "wire/ingest.h"

/*
 * The next batch is due from this size on: large enough for few system calls, and small enough for
 * both caches. While the daemon applies a batch, some 0.3 ms, it answers no question.
 */
#define INGEST_CLIENT_BATCH_SIZE (32u << 10)
/*
 * Most bytes of one stream's records of one time. More become a gap: they are one piece, and the
 * daemon answers nobody while it applies a piece. Only a program that forges times has more.
 */
#define INGEST_CLIENT_MAX_SAME (256u << 10)
/* Most unacknowledged batches; at the limit the feeder waits for the daemon. */
#define INGEST_CLIENT_MAX_IN_FLIGHT 8

typedef struct IngestClient IngestClient;

typedef enum IngestClientState {
        INGEST_CLIENT_OFFLINE,
        INGEST_CLIENT_GREETING, /* HELLO is sent; frames put meanwhile follow it */
        INGEST_CLIENT_HELD,     /* the daemon asks to stop pulling events */
        INGEST_CLIENT_GOING,
        INGEST_CLIENT_FAILED, /* of no use until ingest_client_disconnect() */
} IngestClientState;

typedef enum IngestClientEvent {
        INGEST_CLIENT_NOTHING,   /* all received bytes are read */
        INGEST_CLIENT_BROKEN,    /* the state is FAILED: see ingest_client_failure() */
        INGEST_CLIENT_GREETED,   /* the daemon's HELLO has come */
        INGEST_CLIENT_ACK,       /* a stream's watermark has come or moved */
        INGEST_CLIENT_COMMITTED, /* the oldest batch in flight is safe */
        INGEST_CLIENT_CREDIT,    /* HELD became GOING, or the reverse */
} IngestClientEvent;

typedef enum IngestClientFailure {
        INGEST_CLIENT_OK,
        INGEST_CLIENT_NOT_CLRSYMD,   /* the peer does not speak the protocol */
        INGEST_CLIENT_OTHER_VERSION, /* it speaks another version of it */
        INGEST_CLIENT_REFUSED,       /* it sent an ERROR and disconnects */
} IngestClientFailure;

/* A stream open on the connection. Its members are read only. */
typedef struct IngestStream {
        void *data;         /* of ingest_client_open() */
        uint32_t number;    /* on the present connection */
        bool is_known;      /* the daemon answered the STREAM_OPEN */
        uint64_t watermark; /* records up to this time need not be sent; 0 until it is known */
} IngestStream;

/* PROGRAM is the feeder's name and version, for people; copied. */
IngestClient *ingest_client_new(const char *program, bool keeps_batches);
void ingest_client_free(IngestClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(IngestClient, ingest_client_free)

/*
 * The host has connected. From now on frames are appended to OUT (borrowed until
 * ingest_client_disconnect()); the sender may remove sent bytes. HELLO is the first.
 */
void ingest_client_connect(IngestClient *client, GByteArray *out);
/* The connection has ended. */
void ingest_client_disconnect(IngestClient *client);

IngestClientState ingest_client_state(const IngestClient *client);
/* True if the daemon has greeted and has answered every STREAM_OPEN. */
bool ingest_client_is_ready(const IngestClient *client);

/* Takes N bytes from the daemon; ingest_client_next() returns their meaning. */
void ingest_client_feed(IngestClient *client, const uint8_t *bytes, size_t n);
/*
 * The next event. With INGEST_CLIENT_ACK, RET_STREAM is the stream (borrowed); it may be NULL.
 */
IngestClientEvent ingest_client_next(IngestClient *client, IngestStream **ret_stream);

IngestClientFailure ingest_client_failure(const IngestClient *client);
/* The reason of FAILED, to follow "the daemon at PATH: "; owned by the client, printable. */
const char *ingest_client_reason(const IngestClient *client);

/*
 * Opens a stream. NULL if INGEST_MAX_STREAMS are open. The stream is the client's. It is valid
 * until its STREAM_CLOSE is acknowledged, and without kept batches at most until
 * ingest_client_disconnect().
 */
IngestStream *ingest_client_open(IngestClient *client, const StreamIdentity *identity, void *data);
/* The stream with that number, if it is open and not closing; else NULL. Borrowed. */
IngestStream *ingest_client_stream(const IngestClient *client, uint32_t number);

/* The frames since the last commit; append to them with ingest_put_...(), except RECORDs. */
GByteArray *ingest_client_batch(IngestClient *client);

typedef enum IngestPut {
        INGEST_PUT_DONE,
        INGEST_PUT_TOO_LARGE,  /* for a frame: nothing was put */
        INGEST_PUT_BATCH_FULL, /* more records of one time than a batch can have */
} IngestPut;

/* Appends a RECORD. Put records in order. */
IngestPut ingest_client_put_record(IngestClient *client, const IngestStream *stream,
                                   const Record *record, int64_t order);
/* True if the batch is large enough, and may end before a record of that ORDER. */
bool ingest_client_is_due(const IngestClient *client, int64_t order);
/*
 * The bytes of the batch that may be committed if no event older than NOW will come: all records
 * except those that others of equal time may follow.
 */
size_t ingest_client_settled(const IngestClient *client, int64_t now);
/*
 * Sends the first N bytes of the batch (all of it, or the result of ingest_client_settled()), the
 * frames of LAST if that is not NULL, and a COMMIT. The rest begins the next batch.
 */
void ingest_client_commit(IngestClient *client, size_t n, const GByteArray *last);
/*
 * Empties the batch: its frames are not sent, unless the host sends them later as frames of its
 * own.
 */
void ingest_client_drop_batch(IngestClient *client);
/* Sends N bytes of whole frames of the host's own as a batch; the client's own batch stays. */
void ingest_client_commit_frames(IngestClient *client, const uint8_t *frames, size_t n);

/* Committed batches that are not acknowledged. */
unsigned ingest_client_n_in_flight(const IngestClient *client);
/* True if the daemon lets the feeder continue, and few enough batches are unacknowledged. */
bool ingest_client_may_send(const IngestClient *client);
