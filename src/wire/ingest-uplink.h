/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ingest uplink: a feeder's connection to the daemon, an ingest client with its socket
 *
 * Only ingest_uplink_exchange() blocks. Bytes that the socket does not take stay queued; the
 * daemon's bytes are received at every turn, so that there is no deadlock. After a loss of the
 * connection the host may reconnect (see "Reconnecting" in wire/ingest-client.h).
 *
 * A host polls by itself, or lets the default main context watch the socket.
 */

#include "wire/ingest-client.h"

#include <poll.h>

typedef struct IngestUplink IngestUplink;

typedef enum IngestUplinkStatus {
        INGEST_UPLINK_NOTHING,  /* no more bytes */
        INGEST_UPLINK_RECEIVED, /* ingest_client_next() returns the meaning of the received bytes */
        INGEST_UPLINK_GONE,     /* the daemon has disconnected */
        INGEST_UPLINK_BROKEN,   /* the client FAILED: see ingest_client_failure() */
} IngestUplinkStatus;

/* Each is called from the main loop, and may disconnect or free the uplink. */
typedef struct IngestUplinkCalls {
        void (*received)(void *data); /* like INGEST_UPLINK_RECEIVED */
        void (*gone)(void *data);     /* like INGEST_UPLINK_GONE */
} IngestUplinkCalls;

/* Like ingest_client_new(). */
IngestUplink *ingest_uplink_new(const char *program, bool keeps_batches);
/* NULL is accepted. */
void ingest_uplink_free(IngestUplink *uplink);

/* Borrowed; the same for all connections. */
IngestClient *ingest_uplink_client(const IngestUplink *uplink);

/*
 * Connects to the daemon's ingest socket at PATH, and queues HELLO. Waits like unix_connect().
 * Returns 0, or a negative errno for ingest_uplink_explain().
 */
int ingest_uplink_connect(IngestUplink *uplink, const char *path, int wait_ms);
/*
 * The message for a connection to PATH that failed with ERROR, a result of ingest_uplink_connect().
 * OPTION chooses another socket. The caller frees it.
 */
char *ingest_uplink_explain(const char *path, int error, const char *option);
/*
 * Makes the default main context watch the connection, until the connection ends. CALLS is
 * borrowed.
 */
void ingest_uplink_watch(IngestUplink *uplink, const IngestUplinkCalls *calls, void *data);
/* Ends the connection; unsent bytes are dropped. */
void ingest_uplink_disconnect(IngestUplink *uplink);
bool ingest_uplink_is_connected(const IngestUplink *uplink);

/*
 * Sends as many bytes as the socket takes. The main context, if it watches, sends the rest later.
 * If the daemon no longer reads, receiving finds that: the daemon's last bytes may give the reason.
 */
void ingest_uplink_send(IngestUplink *uplink);
/* Receives some bytes, if there are any. Never returns INGEST_UPLINK_BROKEN. */
IngestUplinkStatus ingest_uplink_receive(IngestUplink *uplink);
/* The events to poll for; fd -1: not connected. */
struct pollfd ingest_uplink_poll(const IngestUplink *uplink);
/*
 * Sends and receives all that is possible. If nothing is, waits up to TIMEOUT_MS (0: not at all,
 * -1: without limit); a signal ends the wait. For hosts that need no events: they check the client
 * and its streams. Returns INGEST_UPLINK_NOTHING, or the reason why the connection cannot be used.
 */
IngestUplinkStatus ingest_uplink_exchange(IngestUplink *uplink, int timeout_ms);
