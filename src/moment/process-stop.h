/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Process stop: the threads of a running process, stopped by ptrace(2) for a moment
 *
 * All threads are stopped, their registers and stacks are copied, and they go on. Nothing is
 * written to the process. If this program is killed meanwhile, the kernel lets the threads go on,
 * and a signal that was about to be delivered is not lost. As with each stop of a process, a system
 * call that waits can return EINTR, see signal(7).
 */

#include "moment/moment.h"

/* us: how long a thread may take to stop. One that waits for a disk cannot; others stop once they
 * get a CPU. */
#define PROCESS_STOP_DISK_LIMIT (20 * 1000)
#define PROCESS_STOP_LIMIT      (500 * 1000)
/* Threads of a process, at most. */
#define PROCESS_STOP_MAX_THREADS 32768u

/* False with ERROR set: PID is no process that could be stopped here. */
bool process_stop_check(pid_t pid, GError **error);

/*
 * The threads of process PID of our own pid namespace. NULL with ERROR set: there is no such
 * process, it may not be stopped (the message says why, and what to do), or it is not of x86-64.
 * Threads that did not stop in time are among the notes.
 */
Moment *moment_of_process(pid_t pid, GError **error);

/*
 * The threads that a debugger has stopped, of process PID, as its TEXT of N bytes has them
 * (moment/debugger-threads.h). Nothing is stopped here. NULL with ERROR set: the same, or no
 * debugger has the process, or the text is wrong.
 */
Moment *moment_of_debugger(pid_t pid, const char *text, size_t n, GError **error);
