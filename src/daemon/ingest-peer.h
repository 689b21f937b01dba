/* SPDX-License-Identifier: MIT */
#pragma once

/* Ingest peer: a feeder connected to the ingest socket */

#include "journal/journal.h"
#include "query/query.h"
#include "util/peer.h"
#include "wire/ingest-connection.h"

typedef struct IngestPeer IngestPeer;

typedef struct IngestPeerOptions {
        Tracker *tracker;              /* borrowed */
        Journal *journal;              /* borrowed or NULL; batches are written to it */
        QueryStats *stats;             /* borrowed; the feeder's reports are added */
        void (*committed)(void *data); /* batches were applied */
        void (*waits)(IngestPeer *peer, void *data); /* the feeder has begun to wait for a place */
        void (*gone)(IngestPeer *peer, void *data);  /* called once; may free the peer */
        void *data;
} IngestPeerOptions;

/* Takes over FD. OPTIONS are copied. The feeder has no place yet. */
IngestPeer *ingest_peer_new(int fd, const IngestPeerOptions *options);
void ingest_peer_free(IngestPeer *peer);
Peer *ingest_peer_peer(const IngestPeer *peer);
const IngestConnection *ingest_peer_connection(const IngestPeer *peer);
uid_t ingest_peer_uid(const IngestPeer *peer);

/* A feeder without a place may report gaps of processes, and nothing else. */
bool ingest_peer_has_place(const IngestPeer *peer);
void ingest_peer_give_place(IngestPeer *peer);
