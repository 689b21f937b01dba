/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Clock: converts the times of a recording to those of the trace
 */

#include "cli/perf-recording.h"
#include "clrsym/clrsym.h"

typedef struct PerfClock {
        bool is_exact;  /* the two are the same */
        int64_t offset; /* else: ns to add, */
        uint64_t slack; /* ns by which the sum may be wrong */
} PerfClock;

/*
 * IS_LIVE: the events are those of processes here, not of a trace. False, with ERROR, if the
 * recording is of another boot than the trace and IS_FORCED is not set. NOTES gets messages for the
 * user (owned).
 */
bool perf_clock_find(clrsym *handle, const Recording *recording, const char *input, bool is_live,
                     bool is_forced, PerfClock *ret_clock, GPtrArray *notes, GError **error);

/*
 * Was it recorded on this machine, since its last boot? Then its device and inode numbers are still
 * valid. False if that is unknown, without CLOCK_MONOTONIC.
 */
bool perf_clock_is_of_this_boot(const Recording *recording);
