/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The texts of /proc/PID/stat and /proc/PID/status (proc(5))
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct ProcStat {
        char state; /* 'R', 'S', ... 'Z' for one that has ended and was not reaped */
        pid_t parent;
        uint64_t start_ticks; /* since boot, including suspended time; sysconf(_SC_CLK_TCK) a second
                               */
} ProcStat;

/* False if TEXT is not such a line. */
bool proc_stat_parse(const char *text, ProcStat *ret_stat);
/* Reads /proc/PID/stat of process PID. False: there is no such process, or /proc cannot be read. */
bool proc_stat_read(pid_t pid, ProcStat *ret_stat);

/*
 * Reads the numbers of the line "NAME: 1 2 3" of TEXT, a /proc/PID/status: up to MAX into NUMBERS.
 * Returns their number; 0: no such line. A process cannot forge a line, because the kernel escapes
 * line ends in its name.
 */
unsigned proc_status_numbers(const char *text, const char *name, uint32_t *numbers, unsigned max);
