/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Feeder: who is connected to the ingest socket
 */

#include "daemon/peer.h"
#include "query/query.h"
#include "service/ingest-session.h"
#include "service/journal.h"

typedef struct Feeder Feeder;

/*
 * COMMITTED is called whenever batches were applied; STATS (borrowed) is told what it reports, and
 * JOURNAL (borrowed, or NULL) what it says.
 */
Feeder *feeder_new(Tracker *tracker, Journal *journal, QueryStats *stats,
                   void (*committed)(void *data), void *data);
const IngestSession *feeder_session(const Feeder *feeder);

/* The session of a peer of this role is a Feeder, and the peer's. */
extern const PeerRole FEEDER_ROLE;
