/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Clock: converts the times of a recording to those of the trace
 */

#include "cli/perf-recording.h"
#include "clrsym/clrsym.h"

typedef struct PerfClock {
        bool is_exact;  /* the two clocks are equal */
        int64_t offset; /* else: ns to add to the recording's times */
        uint64_t slack; /* maximum error of the sum in ns */
} PerfClock;

/*
 * IS_LIVE: the events are of processes here, not of a trace. False with ERROR set if the recording
 * is of another boot than the trace, unless IS_FORCED. NOTES gets messages for the user (owned).
 */
bool perf_clock_find(clrsym *handle, const Recording *recording, const char *input, bool is_live,
                     bool is_forced, PerfClock *ret_clock, GPtrArray *notes, GError **error);

/*
 * True if the recording was made on this machine since its last boot, so that its device and inode
 * numbers are valid. False if that is unknown, without CLOCK_MONOTONIC.
 */
bool perf_clock_is_of_this_boot(const Recording *recording);
