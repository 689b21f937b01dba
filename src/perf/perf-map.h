/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Perf map: /tmp/perf-PID.map, from which perf names anonymous memory
 *
 * One that is older than the process is that of an earlier process with the same pid: its names are
 * of other code. A runtime that writes a map makes a new one when it starts.
 */

#include <stdbool.h>
#include <stdint.h>

typedef struct PerfMap {
        int32_t pid; /* that was looked at last; 0: none was */
        bool is_stale;
} PerfMap;

/* True if DSO, of an address of process PID, is such a map, and older than the process. False also
 * if the process has ended: then its age is not known. */
bool perf_map_is_stale(PerfMap *map, const char *dso, int32_t pid);
