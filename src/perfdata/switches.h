/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Switches: the times at which each thread of a recording got a CPU and lost it
 *
 * They come from the records of perf record --switch-events (PERF_RECORD_SWITCH and
 * PERF_RECORD_SWITCH_CPU_WIDE of linux/perf_event.h), and from those of the ends of threads.
 * Records are not in order of time: all must be taken before the first question.
 *
 * Memory is bounded: records beyond the maximum are left out, and waits of their time are
 * uncertain.
 */

#include "perfdata/perf-data.h"

#include <stdbool.h>
#include <stdint.h>

/* Maximum of records of a recording, of 8 bytes each. */
#define SWITCHES_MAX (1u << 24)

typedef struct Switches Switches;

/* MAX: the maximum of kept records. */
Switches *switches_new(uint64_t max);
/* NULL is fine. */
void switches_free(Switches *switches);

/* Takes a record that is not a sample, with its ID; ignores others than those above. */
void switches_take(Switches *switches, const PerfRecordId *id,
                   const struct perf_event_header *record);

typedef enum WaitKind {
        WAIT_SLEEPS,    /* the thread gave its CPU away */
        WAIT_FOR_CPU,   /* the kernel gave the CPU to another thread: this one could have run */
        WAIT_NONE,      /* the thread has ended */
        WAIT_UNCERTAIN, /* records of the thread are missing */
} WaitKind;

/* How long, in ns, thread TID had no CPU after TIME, at which it lost its CPU; at most up to the
 * last record. 0 with the last two kinds. */
WaitKind switches_find(Switches *switches, int32_t tid, uint64_t time, uint64_t *ret_duration);
