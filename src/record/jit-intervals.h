/* SPDX-License-Identifier: MIT */
#pragma once

/* JIT intervals: the method that a thread was compiling at a time, from the logs of the holder's
 * workers */

#include "attach/jit-log.h"

typedef struct JitIntervals JitIntervals;

/* Bytes of all logs; the largest processes of a machine have some 100 MB. */
#define JIT_INTERVALS_MAX_BYTES (UINT64_C(256) << 20)

/* Reads all logs in DIRECTORY; unreadable ones, and bytes beyond JIT_INTERVALS_MAX_BYTES, are
 * missing. */
JitIntervals *jit_intervals_new(const char *directory);
void jit_intervals_free(JitIntervals *intervals);

/* The number of logs that lack compilations. */
unsigned jit_intervals_n_cut(const JitIntervals *intervals);

/* True if no known compilation of PID began at TIME or before: its log begins later. */
bool jit_intervals_is_before(const JitIntervals *intervals, int32_t pid, uint64_t time);

/* Calls FN for each compilation, in no order. */
void jit_intervals_each(const JitIntervals *intervals,
                        void (*fn)(const JitLogEntry *entry, void *data), void *data);

/* The innermost compilation; NULL: none, or not known. Owned by INTERVALS. */
const JitLogEntry *jit_intervals_find(const JitIntervals *intervals, int32_t pid, int32_t tid,
                                      uint64_t time);
