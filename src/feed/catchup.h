/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Catch-up: reads from the relay daemon's files what a live session had while it was not read
 *
 * It runs in rounds, until the files have nothing newer of the streams that no live reader feeds:
 *
 *    IDLE ---> ASKING ---> READING ---> ASKING or READING ... ---> IDLE
 *                            |   ^
 *                            +---+ WAITING, to try again
 *
 * The streams that are new in the files are opened, and the daemon answers how far each is
 * (ASKING); then the packets after that are read, in order of time, until the round is large enough
 * (READING). Between two rounds everything else goes on.
 *
 * Only packets in the index are read, each as a whole. One that cannot be read is tried again for a
 * while, since its file may grow, or form a ring; then it is a gap, and its stream goes on after
 * it.
 */

#include "feed/packet-feed.h"

typedef struct Catchup Catchup;

typedef struct CatchupCalls {
        /*
         * It has ended. The streams that the live reader held when the last round began can be
         * released. REASON (borrowed): what went wrong, so that events are missing; NULL: nothing.
         */
        void (*done)(void *data, uint64_t last, const char *reason);
        /* It waits until something is not short any more (descriptors, memory). */
        void (*waits)(void *data, const char *reason);
        /* Number of the last stream that the live reader holds. */
        uint64_t (*last_held)(void *data);
} CatchupCalls;

/* SESSION is its name; all are borrowed. */
Catchup *catchup_new(PacketFeed *feed, StreamTable *table, const char *session,
                     const CatchupCalls *calls, void *data);
void catchup_free(Catchup *catchup);

/*
 * Begins, with the files below OUTPUT. LIVE: the number of the live reader, which gets everything
 * that comes from now on; 0: there is none. Must not be called while it runs.
 */
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
