/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JIT statistics: counts of what the JIT compiler did in one process
 *
 * Feeders send these events only on request (sink.clrsym.feed, parameter jit).
 */

#include "codemap/strtab.h"
#include "event/record.h"

typedef struct JitStats JitStats;

/* NAMES and ACCOUNT are borrowed. */
JitStats *jitstats_new(Strtab *names, Account *account);
void jitstats_free(JitStats *stats);

/* Counts a record of a kind EVENT_KIND_JIT_* or EVENT_KIND_R2R_ENTRY; ignores others. */
void jitstats_add(JitStats *stats, const Record *record);

/* Attempts of the compiler, which succeed or fail for a reason. */
typedef enum JitAttempt {
        JIT_INLINING,
        JIT_TAIL_CALL,
        _JIT_ATTEMPT_MAX,
} JitAttempt;

uint64_t jitstats_n_succeeded(const JitStats *stats, JitAttempt attempt);

typedef struct JitReason {
        Str reason; /* 0: all reasons without an entry of their own */
        uint64_t count;
} JitReason;

/* Most frequent first; the caller frees the array. */
JitReason *jitstats_reasons(const JitStats *stats, JitAttempt attempt, size_t *ret_n);

/* The runs of the background thread that compiles higher tiers. */
typedef struct JitBackground {
        uint64_t n_runs;
        uint64_t time; /* ns, of all runs */
        uint64_t n_methods;
        uint64_t n_pauses; /* tiering was postponed, because new methods were still being called */
        uint64_t pause_time;    /* ns, of all finished pauses */
        uint64_t n_new_methods; /* methods called for the first time during these pauses */
        uint64_t n_pending;     /* methods waiting for a higher tier, at the latest run */
        uint64_t n_most_pending;
} JitBackground;

/* The runtime's lookups of precompiled code. */
typedef struct JitLookups {
        uint64_t n;
        uint64_t n_found;
        uint64_t time; /* ns, of all lookups */
} JitLookups;

JitBackground jitstats_background(const JitStats *stats);

JitLookups jitstats_lookups(const JitStats *stats);

/* Begin of the pause in progress, ns; 0: none. */
uint64_t jitstats_pause_begin(const JitStats *stats);
/* Begin of the background thread's run in progress, ns; 0: none. */
uint64_t jitstats_background_begin(const JitStats *stats);
/* Failures without an entry of their own. */
uint64_t jitstats_n_others(const JitStats *stats, JitAttempt attempt);
/* From a checkpoint: sets all counts except the reasons. */
void jitstats_restore(JitStats *stats, const uint64_t *n_succeeded, const uint64_t *n_others,
                      const JitBackground *background, uint64_t background_begin);
void jitstats_restore_lookups(JitStats *stats, const JitLookups *lookups, uint64_t pause_begin);
/* Takes over the reference to REASON. False if the reason is a duplicate, or there are too many. */
bool jitstats_restore_reason(JitStats *stats, JitAttempt attempt, Str reason, uint64_t count);
