/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Target threads: maps a target and its threads to the ids that perf has
 *
 * Events have ids of the target's own pid namespace, perf has ids of ours. /proc shows both while a
 * thread runs, so a thread that ends before its first event is read stays unknown. A known thread
 * stays known until another thread has its id.
 */

#include "util/proc.h"

typedef struct TargetThreads TargetThreads;

/* PROCESS: the target in /proc; copied. */
TargetThreads *target_threads_new(const ProcInfo *process);
/* NULL is fine. */
void target_threads_free(TargetThreads *threads);

/* The target's pid in our own pid namespace. */
int32_t target_threads_pid(const TargetThreads *threads);
/* The id in our namespace of thread TID in the target's; 0: not known. */
int32_t target_threads_find(TargetThreads *threads, int32_t tid);
