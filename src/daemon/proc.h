/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What /proc tells of the processes that run now, in our own pid namespace
 */

#include <stdint.h>

/* Inode of our own pid namespace, as the LTTng context pid_ns has it; 0: not known. */
uint64_t proc_own_pid_ns(void);

/* When the process was started, in ns of CLOCK_MONOTONIC, to a clock tick; 0: there is none. */
uint64_t proc_start_time(int32_t pid);
