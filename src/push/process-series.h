/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process series: the series of a store to which the samples of a process belong
 *
 * Name and container identify a series, not the pid: a program that is started again continues its
 * series.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct ProcessSeries {
        char *process;   /* owned: "dotnet", or "orders" of `dotnet orders.dll` */
        char *container; /* owned: its id in hexadecimal digits; NULL: none, or not known */
} ProcessSeries;

/* The series of process PID of our own pid namespace, if it was there at TIME (ns of
 * CLOCK_MONOTONIC); false: only COMM is known. The caller clears it. */
bool process_series_init(ProcessSeries *series, int32_t pid, uint64_t time, const char *comm);
void process_series_clear(ProcessSeries *series);

/* The id of the innermost container in the text of a /proc/PID/cgroup; NULL: none. Owned. */
char *process_series_container(const char *cgroup);
/* The name from the N bytes of arguments of /proc/PID/cmdline. NULL: none. Owned. */
char *process_series_assembly(const char *arguments, size_t n);
