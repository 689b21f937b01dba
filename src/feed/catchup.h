/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Catch-up: reads the events that a live session had while nobody read it, from the relay daemon's
 * files
 *
 * It runs in rounds, until the files have no newer events of the streams that no live reader feeds:
 *
 *    IDLE ---> ASKING ---> READING ---> ASKING or READING ... ---> IDLE
 *                            |   ^
 *                            +---+ WAITING, to try again
 *
 * New streams in the files are opened, and the daemon answers up to which time it has each stream
 * (ASKING). Then the later packets are read, in order of time, until the round is large enough
 * (READING). Between two rounds the main loop runs.
 *
 * Only packets in the index are read, each as a whole. An unreadable packet is retried for a while,
 * because its file can grow, or form a ring; then it is a gap, and its stream continues after it.
 */

#include "feed/packet-feed.h"

typedef struct Catchup Catchup;

typedef struct CatchupCalls {
        /* The catch-up has ended. The streams that the live reader held when the last round began
         * can be released. REASON (borrowed): why events are missing; NULL: none are. */
        void (*done)(void *data, uint64_t last, const char *reason);
        /* The catch-up waits for a resource (descriptors, memory). */
        void (*waits)(void *data, const char *reason);
        /* The number of the last stream that the live reader holds. */
        uint64_t (*last_held)(void *data);
} CatchupCalls;

/* SESSION is the name of the session; all are borrowed. */
Catchup *catchup_new(PacketFeed *feed, StreamTable *table, const char *session,
                     const CatchupCalls *calls, void *data);
void catchup_free(Catchup *catchup);

/* Begins to read the files below OUTPUT. LIVE: the number of the live reader, which gets all events
 * from now on; 0: there is none. Must not be called while the catch-up runs. */
void catchup_start(Catchup *catchup, const char *output, uint64_t live);
bool catchup_is_running(const Catchup *catchup);
/* Ends it at once; `done` is not called. */
void catchup_cancel(Catchup *catchup);
/* The daemon has answered. */
void catchup_go_on(Catchup *catchup);

typedef struct CatchupStats {
        uint64_t n_packets, n_bytes;
        uint64_t n_rounds;
} CatchupStats;

/* Since catchup_new(). */
const CatchupStats *catchup_stats(const Catchup *catchup);
