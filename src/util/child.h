/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The end of a child process
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * Waits until the child PID has ended, DEADLINE is reached (us of g_get_monotonic_time();
 * G_MAXINT64: none), or WAKE_FD is readable (-1: none). True: the child has ended, and is reaped;
 * *RET_STATUS, unless RET_STATUS is NULL, is the status of waitpid(), or 0 if somebody else has
 * reaped it.
 */
bool child_wait(pid_t pid, gint64 deadline, int wake_fd, int *ret_status);
