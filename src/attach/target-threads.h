/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Target threads: the numbers that perf has for a target and its threads
 *
 * Events have the numbers of the target's own pid namespace, perf has those of ours. /proc shows
 * both for as long as a thread runs: a thread that ends before its first event is read is not
 * known. A thread that was known stays known, until another thread has its number.
 */

#include "util/proc.h"

typedef struct TargetThreads TargetThreads;

/* PROCESS: what /proc has about the target; copied. */
TargetThreads *target_threads_new(const ProcInfo *process);
/* NULL is fine. */
void target_threads_free(TargetThreads *threads);

/* The target's pid in our own pid namespace. */
int32_t target_threads_pid(const TargetThreads *threads);
/* The number that thread TID, in the target's pid namespace, has in ours; 0: it is not known. */
int32_t target_threads_find(TargetThreads *threads, int32_t tid);
