/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Running processes by their pids in any pid namespace below our own
 *
 * What is found was true while it was looked up: a process can end right after it, and another one
 * can get its pid. The start time distinguishes them.
 *
 * To look into another namespace takes the permission to trace its processes (root's, or the
 * capability CAP_SYS_PTRACE; or their user is ours); without it they are not found. Processes of
 * our own namespace are found without.
 *
 * A process that was not found before is searched in all of /proc. That is limited to 65536
 * processes, and to a tenth of the time. While more would be needed, processes that are new are not
 * found. Not for use by several threads.
 */

#include "util/process-key.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct ProcKey {
        ProcessKey key; /* its own namespace and its pid there, as its events have them */
        pid_t host_pid; /* its pid in our own namespace */
        uint64_t start; /* ns of CLOCK_MONOTONIC, to a clock tick */
} ProcKey;

/*
 * The process that ASKER calls PID, in the namespace that ASKER itself is in. ASKER is a pid of our
 * own namespace, as SO_PEERCRED has it; the 0 that it has for a peer that is outside of our
 * namespace finds nothing. False: there is no such process, or we may not know.
 */
bool proc_find_key(pid_t asker, int32_t pid, ProcKey *ret_key);
/* The same for an asker whose own namespace, which never changes, is PID_NS. */
bool proc_find_key_in(uint64_t pid_ns, int32_t pid, ProcKey *ret_key);

/*
 * The pid in our own namespace of the process whose own namespace is PID_NS and which is VPID in
 * it. PID_NS 0 is unknown: only a process that is itself in our own namespace is found.
 */
bool proc_host_pid(uint64_t pid_ns, int32_t vpid, pid_t *ret_pid);
/*
 * True: no process that we can see is VPID in PID_NS, a namespace other than our own. False also if
 * we may not look into the namespace of some process, or may not search now.
 */
bool proc_is_gone(uint64_t pid_ns, int32_t vpid);
