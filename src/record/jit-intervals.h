/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JIT intervals: what a thread was compiling at a time, by the logs of the holder's workers
 */

#include "attach/jit-log.h"

typedef struct JitIntervals JitIntervals;

/* Reads all logs in DIRECTORY; what cannot be read is missing. */
JitIntervals *jit_intervals_new(const char *directory);
void jit_intervals_free(JitIntervals *intervals);

/* The innermost compilation; NULL: none, or not known. Owned by INTERVALS. */
const JitLogEntry *jit_intervals_find(const JitIntervals *intervals, int32_t pid, int32_t tid,
                                      uint64_t time);
