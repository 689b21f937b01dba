/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JIT statistics: what the compiler did and did not do in one process, counted
 *
 * Of the events that feeders send only when asked (sink.clrsym.feed, parameter jit).
 */

#include "core/record.h"
#include "core/strtab.h"

typedef struct JitStats JitStats;

/* NAMES and ACCOUNT are borrowed. */
JitStats *jitstats_new(Strtab *names, Account *account);
void jitstats_free(JitStats *stats);

/* Takes a record of one of the kinds EVENT_KIND_JIT_*; others do nothing. */
void jitstats_add(JitStats *stats, const Record *record);

/* What can succeed or fail, for a reason. */
typedef enum JitAttempt {
        JIT_INLINING,
        JIT_TAIL_CALL,
        _JIT_ATTEMPT_MAX,
} JitAttempt;

uint64_t jitstats_n_succeeded(const JitStats *stats, JitAttempt attempt);

typedef struct JitReason {
        Str reason; /* 0: others, past the most that are told apart */
        uint64_t count;
} JitReason;

/* Most frequent first; the caller's to free. */
JitReason *jitstats_reasons(const JitStats *stats, JitAttempt attempt, size_t *ret_n);

/* Times at which the tiers' background thread compiled: how often, how long in ns, how much. */
typedef struct JitBackground {
        uint64_t n_runs;
        uint64_t time;
        uint64_t n_methods;
        uint64_t n_pauses; /* tiering put off, for new methods are still being called */
} JitBackground;

JitBackground jitstats_background(const JitStats *stats);

/*
 * The run of the background thread that is under way began then; 0: none is. And for statistics
 * that are to be as others were: these counts, but for the reasons; and a reason (with a reference
 * that is taken over), false if it is there already or there are too many.
 */
uint64_t jitstats_background_begin(const JitStats *stats);
/* Failures without a reason of their own. */
uint64_t jitstats_n_others(const JitStats *stats, JitAttempt attempt);
void jitstats_restore(JitStats *stats, const uint64_t *n_succeeded, const uint64_t *n_others,
                      const JitBackground *background, uint64_t background_begin);
bool jitstats_restore_reason(JitStats *stats, JitAttempt attempt, Str reason, uint64_t count);
