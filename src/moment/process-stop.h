/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process stop: stops the threads of a running process for a moment, by ptrace(2)
 *
 * All threads stop, their registers and stacks are copied, and they continue. Nothing is written to
 * the process. If this program is killed meanwhile, the kernel continues the threads, and delivers
 * pending signals. As with each stop of a process, a waiting system call can return EINTR, see
 * signal(7).
 */

#include "moment/moment.h"

/*
 * Timeouts in us: a thread that waits for a disk cannot stop; other threads stop once they get a
 * CPU.
 */
#define PROCESS_STOP_DISK_LIMIT (20 * 1000)
#define PROCESS_STOP_LIMIT      (500 * 1000)
/* Timeout in us of the copies, from the first to the last. */
#define PROCESS_STOP_COPY_LIMIT PROCESS_STOP_LIMIT
/* Maximum of threads of a process. */
#define PROCESS_STOP_MAX_THREADS 32768u

/* False with ERROR set: process PID does not exist, or cannot be stopped. */
bool process_stop_check(pid_t pid, GError **error);

/*
 * Stops process PID of our own pid namespace, and copies its threads. NULL with ERROR set: no such
 * process, no permission (the message gives the reason, and the remedy), or this machine is none
 * of unwind/machine.h. The notes list threads that did not stop in time, and the number of threads
 * that are missing because the copies took COPY_LIMIT us (PROCESS_STOP_COPY_LIMIT).
 */
Moment *moment_of_process(pid_t pid, gint64 copy_limit, GError **error);

/*
 * Copies the threads of process PID, which a debugger has stopped and listed in TEXT, of N bytes
 * (moment/debugger-threads.h). Stops nothing. NULL with ERROR set: as above, or no debugger traces
 * the process, or TEXT is malformed.
 */
Moment *moment_of_debugger(pid_t pid, const char *text, size_t n, GError **error);
