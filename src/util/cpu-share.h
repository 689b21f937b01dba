/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * CPU share: limits the CPU time of work that others cause
 *
 * The work may use a part of the elapsed time, and after a pause a burst. The CPU time of its
 * thread counts, because on a busy machine work waits for a CPU most of the time.
 */

#include "util/clock.h"

#include <stdbool.h>

/* Zeroed: nothing was used yet. */
typedef struct CpuShare {
        int64_t left;  /* ns of CPU that the work may use; 0 or less: none now */
        int64_t time;  /* ns of CLOCK_MONOTONIC, when `left` was computed; 0: never */
        int64_t begin; /* ns of the thread's CPU time at the begin of the work */
} CpuShare;

/* BURST: ns. PART: the work may use one PART-th of the elapsed time. False: the share is used up.
 */
static inline bool cpu_share_begin(CpuShare *share, int64_t burst, int64_t part)
{
        const int64_t now = clock_ns(CLOCK_MONOTONIC);
        const int64_t left = share->time ? share->left + (now - share->time) / part : burst;

        share->left = left < burst ? left : burst;
        share->time = now;
        share->begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        return share->left > 0;
}

/* Called by the same thread, after the work. */
static inline void cpu_share_end(CpuShare *share)
{
        share->left -= clock_ns(CLOCK_THREAD_CPUTIME_ID) - share->begin;
}
