/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Processes: finds running processes with a .NET runtime that can be attached
 */

#include "attach/process-filter.h"

#include <sys/types.h>

#define PROCESSES_ANY_USER ((uid_t)-1)

/* us for reading the mappings of a process: a thousand times more than an ordinary one needs. */
#define PROCESSES_READ_LIMIT G_TIME_SPAN_SECOND

typedef enum ProcessKind {
        PROCESS_OTHER,
        PROCESS_WANTED,
        PROCESS_HIDDEN, /* the user's, but the kernel refuses to show its mappings */
} ProcessKind;

/*
 * PROCESS_WANTED if process PID of our own pid namespace belongs to user UID, has a .NET runtime,
 * and FILTER does not exclude it. FILTER NULL: no filter. A process that takes longer to read than
 * PROCESSES_READ_LIMIT counts as another program.
 */
ProcessKind process_kind(pid_t pid, uid_t uid, const ProcessFilter *filter);

/*
 * Finds the running processes of user UID with a .NET runtime that FILTER does not exclude: an
 * array of pid_t in our own pid namespace, ascending, without processes that we may not inspect.
 * The caller owns it. RET_N_HIDDEN: the number of the user's processes that are PROCESS_HIDDEN.
 */
GArray *processes_find(uid_t uid, const ProcessFilter *filter, unsigned *ret_n_hidden);
