/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JIT intervals: what a thread was compiling at a time, by the logs of the holder's workers
 *
 * The logs are read while they are written, see target-logs.h, and a recording without an end
 * forgets what is too old for a question.
 */

#include "attach/jit-log.h"

typedef struct JitIntervals JitIntervals;

/* Bytes of all entries that are not forgotten; the largest processes of a machine have some 100 MB.
 */
#define JIT_INTERVALS_MAX_BYTES (UINT64_C(256) << 20)

/*
 * Reads all logs in DIRECTORY, see jit_intervals_update(); what cannot be read is missing, and so
 * is what is more than JIT_INTERVALS_MAX_BYTES.
 */
JitIntervals *jit_intervals_new(const char *directory);
void jit_intervals_free(JitIntervals *intervals);

/* Reads the entries that have come. Pointers to entries are invalid then. */
void jit_intervals_update(JitIntervals *intervals);
/* The same. Nobody asks for a time before TIME, in ns of CLOCK_MONOTONIC. */
void jit_intervals_forget(JitIntervals *intervals, uint64_t time);

/* Logs that do not have all compilations of their processes, of a recording that is over. */
unsigned jit_intervals_n_cut(const JitIntervals *intervals);

/* True if no known compilation of PID began at TIME or before: its log begins later. */
bool jit_intervals_is_before(const JitIntervals *intervals, int32_t pid, uint64_t time);

/* Calls FN for each compilation that is not forgotten, in no order. */
void jit_intervals_each(const JitIntervals *intervals,
                        void (*fn)(const JitLogEntry *entry, void *data), void *data);

/* The innermost compilation; NULL: none, or not known. Owned by INTERVALS. */
const JitLogEntry *jit_intervals_find(const JitIntervals *intervals, int32_t pid, int32_t tid,
                                      uint64_t time);
