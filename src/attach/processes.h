/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Processes: which running processes have a .NET runtime that could be attached to
 */

#include "attach/process-filter.h"

#include <sys/types.h>

#define PROCESSES_ANY_USER ((uid_t)-1)

/* In us, for what a process has mapped: a thousand times what an ordinary one takes. */
#define PROCESSES_READ_LIMIT G_TIME_SPAN_SECOND

typedef enum ProcessKind {
        PROCESS_OTHER,
        PROCESS_WANTED,
        PROCESS_HIDDEN, /* of the user; the kernel refuses to show its mappings */
} ProcessKind;

/*
 * PROCESS_WANTED if process PID of our own pid namespace is of user UID, has a .NET runtime, and
 * FILTER does not exclude it. FILTER NULL: none. What takes longer to read than
 * PROCESSES_READ_LIMIT is taken for another program.
 */
ProcessKind process_kind(pid_t pid, uid_t uid, const ProcessFilter *filter);

/*
 * Finds the running processes of user UID that have a .NET runtime, and that FILTER does not
 * exclude: an array of pid_t in our own pid namespace, ascending, without processes that we may not
 * look into. The caller owns it. RET_N_HIDDEN: how many of the user's processes are
 * PROCESS_HIDDEN.
 */
GArray *processes_find(uid_t uid, const ProcessFilter *filter, unsigned *ret_n_hidden);
