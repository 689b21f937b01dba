/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Catch-up: what a live session had while nobody read it, from the relay daemon's files
 *
 * Round for round, until nothing is left that is newer than what was fed, of the streams that no
 * live reader feeds: which streams there are is asked of a reader that only looks at one packet of
 * each; then the daemon says how far each one is; then the packets behind that are copied aside and
 * read. Copied, for a reader of files that still grow may find half a packet at their end.
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
         * It is at its end. All streams that were held up to number LAST can be released. WHY,
         * borrowed, says what went wrong, so that something is missing; or NULL.
         */
        void (*done)(void *data, uint64_t last, const char *why);
} CatchupCalls;

Catchup *catchup_new(Merger *merger, StreamTable *table, const CatchupSettings *settings,
                     const CatchupCalls *calls, void *data);
void catchup_free(Catchup *catchup);

/*
 * Begins, with the files below OUTPUT. IS_ATTACHED: a live reader gets everything that comes from
 * now on. Not while it runs.
 */
void catchup_start(Catchup *catchup, const char *output, bool is_attached);
bool catchup_is_running(const Catchup *catchup);
/* Ends it, undone. */
void catchup_cancel(Catchup *catchup);
/* Is INTAKE its? Then it is freed, and that round has failed. */
bool catchup_drop_intake(Catchup *catchup, Intake *intake, bool is_broken);
/* A watermark has come. */
void catchup_go_on(Catchup *catchup);

typedef struct CatchupStats {
        uint64_t n_packets, n_bytes;
        uint64_t n_rounds;
} CatchupStats;

/* Since it was made. */
const CatchupStats *catchup_stats(const Catchup *catchup);
pid_t catchup_pid(const Catchup *catchup);
