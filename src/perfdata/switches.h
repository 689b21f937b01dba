/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Switches: the times at which each thread of a recording got a CPU and lost it
 *
 * The source is perf record --switch-events (PERF_RECORD_SWITCH and PERF_RECORD_SWITCH_CPU_WIDE of
 * linux/perf_event.h), and the records of ended threads. Records are not in order of time: take all
 * of them before the first lookup.
 *
 * Memory is bounded: records above the maximum are dropped, and waits at their times are uncertain.
 */

#include "perfdata/perf-data.h"

#include <stdbool.h>
#include <stdint.h>

/* Maximum of records, of 8 bytes each. */
#define SWITCHES_MAX (1u << 24)

typedef struct Switches Switches;

/* MAX: maximum of records. */
Switches *switches_new(uint64_t max);
/* NULL is fine. */
void switches_free(Switches *switches);

/* Takes a record other than a sample, with its ID; ignores records of other types. */
void switches_take(Switches *switches, const PerfRecordId *id,
                   const struct perf_event_header *record);

typedef enum WaitKind {
        WAIT_SLEEPS,    /* the thread waits by its own choice */
        WAIT_FOR_CPU,   /* the kernel gave the CPU to another thread: this thread is runnable */
        WAIT_NONE,      /* the thread has ended */
        WAIT_UNCERTAIN, /* records of the thread are missing */
} WaitKind;

/*
 * The wait of thread TID, which lost its CPU at TIME, in ns; at most up to the last record.
 * *RET_DURATION is 0 for the last two kinds.
 */
WaitKind switches_find(Switches *switches, int32_t tid, uint64_t time, uint64_t *ret_duration);
