/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Perf map: /tmp/perf-PID.map, from which perf names anonymous memory
 *
 * A map older than the process is of an earlier process with the same pid, so its names are wrong.
 * A runtime that writes a map creates the file when it starts.
 */

#include <stdbool.h>
#include <stdint.h>

typedef struct PerfMap {
        int32_t pid; /* process of the last lookup; 0: none yet */
        bool is_stale;
} PerfMap;

/*
 * True if DSO, of an address of process PID, is a perf map older than the process. False also if
 * the process has ended, because its start is unknown.
 */
bool perf_map_is_stale(PerfMap *map, const char *dso, int32_t pid);
