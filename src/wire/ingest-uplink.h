/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ingest uplink: a feeder's connection to the daemon, an ingest client with its socket
 *
 * Nothing blocks but ingest_uplink_exchange(). What the socket does not take stays queued; what the
 * daemon sends is received at every turn, so that neither side waits for the other for ever. After
 * a loss of the connection the host may connect again (see "Reconnecting" in wire/ingest-client.h).
 *
 * A host polls by itself, or has the default main context watch the socket.
 */

#include "wire/ingest-client.h"

#include <poll.h>

typedef struct IngestUplink IngestUplink;

typedef enum IngestUplinkStatus {
        INGEST_UPLINK_NOTHING,  /* nothing more has come */
        INGEST_UPLINK_RECEIVED, /* ingest_client_next() has what bytes that came mean */
        INGEST_UPLINK_GONE,     /* the daemon has hung up */
        INGEST_UPLINK_BROKEN,   /* the client FAILED: see ingest_client_failure() */
} IngestUplinkStatus;

/* Each is called from the main loop, and may disconnect or free the uplink. */
typedef struct IngestUplinkCalls {
        void (*received)(void *data); /* as INGEST_UPLINK_RECEIVED */
        void (*gone)(void *data);     /* as INGEST_UPLINK_GONE */
} IngestUplinkCalls;

/* As ingest_client_new(). */
IngestUplink *ingest_uplink_new(const char *program, bool keeps_batches);
/* NULL is fine. */
void ingest_uplink_free(IngestUplink *uplink);

/* Borrowed; the same for all connections. */
IngestClient *ingest_uplink_client(const IngestUplink *uplink);

/*
 * Connects to the daemon's ingest socket at PATH, and queues HELLO. Waits as unix_connect() does.
 * Returns 0, or a negative errno for unix_socket_reason().
 */
int ingest_uplink_connect(IngestUplink *uplink, const char *path, int wait_ms);
/* Has the default main context watch the connection, until it is over. CALLS is borrowed. */
void ingest_uplink_watch(IngestUplink *uplink, const IngestUplinkCalls *calls, void *data);
/* The connection is over: what was not sent is dropped. */
void ingest_uplink_disconnect(IngestUplink *uplink);
bool ingest_uplink_is_connected(const IngestUplink *uplink);

/*
 * Sends what the socket takes. The main context, if it watches, sends the rest later. If the daemon
 * no longer reads, receiving finds that: its last bytes may give the reason.
 */
void ingest_uplink_send(IngestUplink *uplink);
/* Receives some bytes, if there are any. Never returns INGEST_UPLINK_BROKEN. */
IngestUplinkStatus ingest_uplink_receive(IngestUplink *uplink);
/* What to poll for; fd -1: not connected. */
struct pollfd ingest_uplink_poll(const IngestUplink *uplink);
/*
 * Sends and receives what is possible, waiting at most TIMEOUT_MS (0: not at all, -1: as long as it
 * takes) until something is; a signal ends the wait. For hosts that need no events: they look at
 * the client and its streams. Returns INGEST_UPLINK_NOTHING, or why the connection is of no use.
 */
IngestUplinkStatus ingest_uplink_exchange(IngestUplink *uplink, int timeout_ms);
