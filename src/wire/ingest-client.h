/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ingest client: a feeder's side of the ingest protocol, without the socket
 *
 * Bytes in, bytes out: the host connects, hands over what it received, and sends what the client
 * appended to its output. It asks for events one at a time, so that nothing is called back.
 *
 *             ingest_client_connect()          HELLO           GO
 *    OFFLINE ------------------------> GREETING -----> HELD <------> GOING
 *       ^                                  |             |    HOLD     |
 *       |                                  +-------------+-------------+
 *       |                                                | ERROR, or a frame that breaks
 *       |    ingest_client_disconnect()                  v the protocol
 *       +---------- from every state ----------------- FAILED
 *
 * Streams. ingest_client_open() sends STREAM_OPEN at once; the answer, INGEST_CLIENT_ACK, brings
 * the stream's watermark. Once a STREAM_CLOSE has been committed the stream is closing; once that
 * batch is acknowledged it is freed. Its number is then used again, but only after all numbers
 * below INGEST_MAX_STREAMS were used: daemons that know no reuse never see one until then.
 *
 * Batches. Frames are gathered in ingest_client_batch() until ingest_client_commit(). A batch never
 * ends between two records of equal time: the daemon drops what is at or below the time of the last
 * record that it has of a stream. ORDER is what times of several streams are compared by, in ns
 * since 1970.
 *
 * Reconnecting. A client that keeps its batches has each until it is acknowledged. After the next
 * ingest_client_connect() it opens all open streams again, with new numbers, sends for each how
 * far it was acknowledged (else the daemon would take the time in between for a gap), and sends the
 * batches again; the daemon drops what it has of them. A client that does not keep them has
 * no streams and no batches after ingest_client_disconnect(): its host begins again.
 */

#include "wire/ingest.h"

/*
 * The next batch is due from this size on: few system calls, and small enough for both caches. The
 * daemon answers no question while it applies a batch, some 0.3 ms.
 */
#define INGEST_CLIENT_BATCH_SIZE (32u << 10)
/*
 * Bytes of one stream's records of one time. More are a gap: the daemon would answer nobody while
 * it applies them, because they are one piece. Only a program that forges times has as many.
 */
#define INGEST_CLIENT_MAX_SAME (256u << 10)
/* Batches that the daemon has not acknowledged yet, before the feeder waits for it. */
#define INGEST_CLIENT_MAX_IN_FLIGHT 8

typedef struct IngestClient IngestClient;

typedef enum IngestClientState {
        INGEST_CLIENT_OFFLINE,
        INGEST_CLIENT_GREETING, /* HELLO is sent; what is put meanwhile follows it */
        INGEST_CLIENT_HELD,     /* the daemon asks to pull no more events */
        INGEST_CLIENT_GOING,
        INGEST_CLIENT_FAILED, /* of no use until ingest_client_disconnect() */
} IngestClientState;

typedef enum IngestClientEvent {
        INGEST_CLIENT_NOTHING,   /* what was received is used up */
        INGEST_CLIENT_BROKEN,    /* the state is FAILED: see ingest_client_failure() */
        INGEST_CLIENT_GREETED,   /* the daemon's HELLO has come */
        INGEST_CLIENT_ACK,       /* a stream's watermark has come or moved */
        INGEST_CLIENT_COMMITTED, /* the oldest batch in flight is safe */
        INGEST_CLIENT_CREDIT,    /* HELD became GOING, or the reverse */
} IngestClientEvent;

typedef enum IngestClientFailure {
        INGEST_CLIENT_OK,
        INGEST_CLIENT_NOT_CLRSYMD,   /* what answers does not speak the protocol */
        INGEST_CLIENT_OTHER_VERSION, /* it speaks another version of it */
        INGEST_CLIENT_REFUSED,       /* it sent an ERROR and hangs up */
} IngestClientFailure;

/* A stream that is open on the connection. Its members are read only. */
typedef struct IngestStream {
        void *data;         /* of ingest_client_open() */
        uint32_t number;    /* on the present connection */
        bool is_known;      /* the daemon answered the STREAM_OPEN */
        uint64_t watermark; /* records up to here need not be sent; 0 until it is known */
} IngestStream;

/* PROGRAM is the feeder's name and version, for people; copied. */
IngestClient *ingest_client_new(const char *program, bool keeps_batches);
void ingest_client_free(IngestClient *client);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(IngestClient, ingest_client_free)

/*
 * There is a connection. From now on frames are appended to OUT (borrowed until
 * ingest_client_disconnect()); whoever sends may remove what it has sent. HELLO is the first.
 */
void ingest_client_connect(IngestClient *client, GByteArray *out);
/* The connection is over. */
void ingest_client_disconnect(IngestClient *client);

IngestClientState ingest_client_state(const IngestClient *client);
/* The daemon has greeted and has answered every STREAM_OPEN. */
bool ingest_client_is_ready(const IngestClient *client);

/* Takes N bytes from the daemon. ingest_client_next() returns what they mean. */
void ingest_client_feed(IngestClient *client, const uint8_t *bytes, size_t n);
/*
 * The next event. With INGEST_CLIENT_ACK, RET_STREAM is the stream (borrowed); it may be NULL.
 */
IngestClientEvent ingest_client_next(IngestClient *client, IngestStream **ret_stream);

IngestClientFailure ingest_client_failure(const IngestClient *client);
/* Why the state is FAILED, to follow "the daemon at PATH: "; owned by the client, printable. */
const char *ingest_client_reason(const IngestClient *client);

/*
 * Opens a stream. NULL if INGEST_MAX_STREAMS are open. The stream is the client's, and valid until
 * its STREAM_CLOSE is acknowledged; without kept batches at most until ingest_client_disconnect().
 */
IngestStream *ingest_client_open(IngestClient *client, const StreamIdentity *identity, void *data);
/* The stream of that number that is open and not closing, or NULL. Borrowed. */
IngestStream *ingest_client_stream(const IngestClient *client, uint32_t number);

/* The frames since the last commit: to be appended to with ingest_put_...(), RECORDs apart. */
GByteArray *ingest_client_batch(IngestClient *client);

typedef enum IngestPut {
        INGEST_PUT_DONE,
        INGEST_PUT_TOO_LARGE,  /* for a frame: nothing was put */
        INGEST_PUT_BATCH_FULL, /* more records of one time than a batch may have */
} IngestPut;

/* Appends a RECORD. Records are put in their order. */
IngestPut ingest_client_put_record(IngestClient *client, const IngestStream *stream,
                                   const Record *record, int64_t order);
/* The batch is large enough, and may end before a record of that ORDER. */
bool ingest_client_is_due(const IngestClient *client, int64_t order);
/*
 * How many bytes of the batch may be committed when nothing older than NOW will come: all but the
 * records that others of their time may follow.
 */
size_t ingest_client_settled(const IngestClient *client, int64_t now);
/*
 * Sends the first N bytes of the batch (all of it, or the result of ingest_client_settled()), the
 * frames of LAST if that is not NULL, and a COMMIT. The rest begins the next batch.
 */
void ingest_client_commit(IngestClient *client, size_t n, const GByteArray *last);
/* Empties the batch: its frames are not sent, unless the host does it later, as frames of its own.
 */
void ingest_client_drop_batch(IngestClient *client);
/* Sends N bytes of whole frames of the host's own as a batch; the client's own batch stays. */
void ingest_client_commit_frames(IngestClient *client, const uint8_t *frames, size_t n);

/* Batches that were committed and are not acknowledged. */
unsigned ingest_client_n_in_flight(const IngestClient *client);
/* The daemon lets the feeder go on, and has few enough batches to acknowledge. */
bool ingest_client_may_send(const IngestClient *client);
