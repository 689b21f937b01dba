/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Catch-up: reads from the relay daemon's files what a live session had while it was not read
 *
 * It runs in rounds, until the files have nothing newer of the streams that no live reader feeds:
 *
 *    IDLE ---> PROBING ---> READING ---> WAITING ---> PROBING or READING ... ---> IDLE
 *
 * A reader that takes one packet of each new stream identifies it (PROBING); the daemon answers how
 * far each stream is; then the packets after that are copied and read (READING). They are copied
 * because a reader of files that still grow may find half a packet at their end. A round that
 * failed is tried again after a while (WAITING).
 */

#include "feed/merger.h"

typedef struct Catchup Catchup;

typedef struct CatchupSettings {
        const char *session;   /* name; borrowed */
        const char *directory; /* a private one; borrowed */
        bool jit_events;
} CatchupSettings;

typedef struct CatchupCalls {
        /*
         * It has ended. All streams that were held up to number LAST can be released. REASON
         * (borrowed): what went wrong, so that events are missing; NULL: nothing.
         */
        void (*done)(void *data, uint64_t last, const char *reason);
        /* It waits until something is not short any more (disk space, descriptors). */
        void (*waits)(void *data, const char *reason);
} CatchupCalls;

Catchup *catchup_new(Merger *merger, StreamTable *table, const CatchupSettings *settings,
                     const CatchupCalls *calls, void *data);
void catchup_free(Catchup *catchup);

/*
 * Begins, with the files below OUTPUT. IS_ATTACHED: a live reader gets everything that comes from
 * now on. Must not be called while it runs.
 */
void catchup_start(Catchup *catchup, const char *output, bool is_attached);
bool catchup_is_running(const Catchup *catchup);
/* Ends it at once; `done` is not called. */
void catchup_cancel(Catchup *catchup);
/* If INTAKE belongs to its reader: frees it and returns true; the round fails. */
bool catchup_drop_intake(Catchup *catchup, Intake *intake, bool is_broken);
/* The daemon has answered with watermarks. */
void catchup_go_on(Catchup *catchup);

typedef struct CatchupStats {
        uint64_t n_packets, n_bytes;
        uint64_t n_rounds;
} CatchupStats;

/* Since catchup_new(). */
const CatchupStats *catchup_stats(const Catchup *catchup);
