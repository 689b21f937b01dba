/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Clock: how the times of a recording become those of the trace
 */

#include "cli/perf-recording.h"
#include "clrsym/clrsym.h"

typedef struct PerfClock {
        bool is_exact;  /* they are the same */
        int64_t offset; /* else: ns to add, */
        uint64_t slack; /* and how wrong the sum may be */
} PerfClock;

/*
 * False, with ERROR, if the recording is of another boot than the trace and not IS_FORCED. NOTES
 * gets what the user should know (owned).
 */
bool perf_clock_find(clrsym *handle, const Recording *recording, const char *input, bool is_forced,
                     PerfClock *ret_clock, GPtrArray *notes, GError **error);

/*
 * Was it recorded on this machine, since that was booted? Then its device and inode numbers mean
 * what they mean now. False also where that cannot be told: without CLOCK_MONOTONIC, that is.
 */
bool perf_clock_is_of_this_boot(const Recording *recording);
