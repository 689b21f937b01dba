/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process series: which series of a store the samples of a process belong to
 *
 * By its name and its container, not by its pid: a program that was started again goes on with the
 * series that it had.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct ProcessSeries {
        char *process;   /* owned: "dotnet", or "orders" of `dotnet orders.dll` */
        char *container; /* owned: its id in hexadecimal digits; NULL: none, or not known */
} ProcessSeries;

/*
 * That of process PID of our own pid namespace, if it was there at TIME (ns of CLOCK_MONOTONIC);
 * false: COMM is all that is known. The caller clears it.
 */
bool process_series_init(ProcessSeries *series, int32_t pid, uint64_t time, const char *comm);
void process_series_clear(ProcessSeries *series);

/* The id of the innermost container in the text of a /proc/PID/cgroup; NULL: none. Owned. */
char *process_series_container(const char *cgroup);
/* The name by the arguments, as in /proc/PID/cmdline: N bytes. NULL: they have none. Owned. */
char *process_series_assembly(const char *arguments, size_t n);
