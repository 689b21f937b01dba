/* SPDX-License-Identifier: MIT */
#pragma once

/* Perf map: the native code of one process at one time, in perf's format */

#include "tracker/tracker.h"

typedef struct PerfmapQuery {
        bool has_pid;
        int32_t pid;
        bool has_pid_ns;
        uint64_t pid_ns;
        const char *at; /* borrowed: the time; NULL: the end, or just before the process's exit */
        uint64_t begin, end; /* times of the first and last event: AT is relative to them */
} PerfmapQuery;

/*
 * Appends "START SIZE name" lines, sorted by start, without overlaps. False with *RET_ERROR (newly
 * allocated) set: no such process, or more than one.
 */
bool perfmap_append(GString *out, const Tracker *tracker, const PerfmapQuery *query,
                    char **ret_error);
