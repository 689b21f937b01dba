/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ingest peer: a feeder that is connected to the ingest socket
 */

#include "journal/journal.h"
#include "query/query.h"
#include "util/peer.h"
#include "wire/ingest-connection.h"

typedef struct IngestPeer IngestPeer;

typedef struct IngestPeerOptions {
        Tracker *tracker;              /* borrowed */
        Journal *journal;              /* borrowed or NULL; batches are written to it */
        QueryStats *stats;             /* borrowed; what the feeder reports is added */
        void (*committed)(void *data); /* batches were applied */
        void (*gone)(IngestPeer *peer, void *data); /* called once; may free the peer */
        void *data;
} IngestPeerOptions;

/* Takes over FD. OPTIONS are copied. */
IngestPeer *ingest_peer_new(int fd, const IngestPeerOptions *options);
void ingest_peer_free(IngestPeer *peer);
Peer *ingest_peer_peer(const IngestPeer *peer);
const IngestConnection *ingest_peer_connection(const IngestPeer *peer);
