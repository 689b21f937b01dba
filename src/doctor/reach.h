/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reach: can a process get at root's session daemon?
 *
 * Programs of all users register at a socket in /run/lttng, below their own root directory, with
 * the rights of their own user.
 */

#include <sys/types.h>

typedef enum Reach {
        REACH_OPEN,
        REACH_NONE,    /* there is no such socket */
        REACH_REFUSED, /* the process may not connect to it */
        REACH_UNKNOWN,
        _REACH_MAX,
} Reach;

/*
 * Of the process PID, whose root directory is ROOT. Takes on its user and groups, for good, if we
 * are root: only for a child that has nothing else to do.
 */
Reach reach_session_daemon(pid_t pid, int root);
/* "open". Static. */
const char *reach_name(Reach reach);
