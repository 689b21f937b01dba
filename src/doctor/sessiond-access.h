/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Session daemon access: can a process connect to root's LTTng session daemon?
 *
 * Traced programs of all users register at a socket in /run/lttng, below their own root directory,
 * with the permissions of their own user.
 */

#include <sys/types.h>

typedef enum SessiondAccess {
        SESSIOND_ACCESS_OPEN,
        SESSIOND_ACCESS_NO_SOCKET,
        SESSIOND_ACCESS_REFUSED, /* the process may not connect */
        SESSIOND_ACCESS_UNKNOWN,
} SessiondAccess;

/*
 * The access of process PID, whose root directory is ROOT. If we are root, takes on the user and
 * the groups of the process for good: only for a child that has nothing else to do.
 */
SessiondAccess sessiond_access_read(pid_t pid, int root);
