/* SPDX-License-Identifier: MIT */
#pragma once

/* Query peer: a client connected to the query socket, and its permissions */

#include "daemon/pid-cache.h"
#include "query/query-connection.h"
#include "util/peer.h"

#include <sys/types.h>

typedef struct QueryPeer QueryPeer;

typedef struct QueryPeerOptions {
        QueryContext context;        /* of every client; each has a viewer of its own */
        PidCache *pids;              /* borrowed */
        gid_t group;                 /* members see every process, like root; or PEER_NO_GROUP */
        void (*watches)(void *data); /* the client began to watch */
        void (*waits)(void *data, const QueryWait *wait); /* the client waits for events */
        void (*filled)(void *data); /* all clients together exceed the context's memory */
        void (*gone)(QueryPeer *peer, void *data); /* called once; may free the peer */
        void *data;
} QueryPeerOptions;

/* Takes over FD, an accepted socket. OPTIONS are copied. NULL: the client cannot be identified. */
QueryPeer *query_peer_new(int fd, const QueryPeerOptions *options);
void query_peer_free(QueryPeer *peer);
uid_t query_peer_uid(const QueryPeer *peer);
/* True: it sees every process. */
bool query_peer_is_privileged(const QueryPeer *peer);
/* us of g_get_monotonic_time(): since when the client is idle; 0: it is not. */
int64_t query_peer_idle_since(const QueryPeer *peer);
/* us of g_get_monotonic_time(): time of its connection. */
int64_t query_peer_connected(const QueryPeer *peer);
Peer *query_peer_peer(const QueryPeer *peer);
QueryConnection *query_peer_connection(const QueryPeer *peer);
