/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Running processes by their pids in any pid namespace below our own
 *
 * A result is of the moment of the look-up: a process can end right after it, and another one can
 * get its pid. The start time distinguishes them.
 *
 * Looking into another namespace needs the permission to trace its processes (root's, or
 * CAP_SYS_PTRACE; or their user is ours); without it they are not found. Processes of our own
 * namespace are found without it.
 *
 * A process that was not found before is searched for in all of /proc. The search is limited to
 * 65536 processes, and to a tenth of the time. Beyond the limit, new processes are not found. Not
 * thread-safe.
 */

#include "util/process-key.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct ProcKey {
        ProcessKey key; /* its own namespace and its pid there, as in its events */
        pid_t host_pid; /* its pid in our own namespace */
        uint64_t start; /* ns of CLOCK_MONOTONIC, to a clock tick */
} ProcKey;

/*
 * The process that ASKER calls PID in ASKER's own namespace. ASKER is a pid of our own namespace,
 * from SO_PEERCRED; with 0, for a peer outside of our namespace, nothing is found. False: there is
 * no such process, or we have no permission.
 */
bool proc_find_key(pid_t asker, int32_t pid, ProcKey *ret_key);
/* The same for an asker whose own namespace, which never changes, is PID_NS. */
bool proc_find_key_in(uint64_t pid_ns, int32_t pid, ProcKey *ret_key);

/* The pid in our own namespace of the process with the pid VPID in its own namespace PID_NS. PID_NS
 * 0 is unknown: only a process of our own namespace is found. */
bool proc_host_pid(uint64_t pid_ns, int32_t vpid, pid_t *ret_pid);
/* True: no visible process is VPID in PID_NS, a namespace other than our own. False also if we may
 * not look into the namespace of some process, or may not search now. */
bool proc_is_gone(uint64_t pid_ns, int32_t vpid);
