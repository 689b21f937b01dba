/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Proc: what /proc has about one running process
 *
 * Pids are those of our own pid namespace unless stated otherwise, and /proc must be mounted for
 * that namespace, or nothing is found. A thread is not a process. A process that has ended but was
 * not reaped is one, because it still has its pid. proc-ns.h finds processes by pids of other
 * namespaces.
 */

#include "util/process-key.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The kernel nests 32 pid namespaces in the first one. */
#define PROC_MAX_LEVELS 33

typedef struct ProcInfo {
        pid_t host_pid; /* the pid in our own namespace */
        uint32_t uid;   /* see proc_uid() */
        uint64_t start; /* see proc_start_time() */
        /* The same process in each namespace that has it: [0] ours, the last one its own. */
        ProcessKey levels[PROC_MAX_LEVELS];
        unsigned n_levels;
} ProcInfo;

/* Inode of our own pid namespace, as the LTTng context pid_ns has it; 0: not known. */
uint64_t proc_own_pid_ns(void);

/* The start of the process, in ns of CLOCK_MONOTONIC, to a clock tick; 0: no such process. */
uint64_t proc_start_time(int32_t pid);
/* True if both times can be of one program: measured times vary by less than a tick. */
bool proc_is_same_start(uint64_t a, uint64_t b);

/*
 * The owner of a running process: 0 if its real, effective and saved uids differ, because then only
 * root may look into it (ptrace(2)). Users that our user namespace does not map look alike. False:
 * there is no such process.
 */
bool proc_uid(int32_t pid, uint32_t *ret_uid);

/* The start of the process with that PID, in clock ticks since boot, and its owner, both of one
 * process. False: no such process. */
bool proc_identify(int32_t pid, uint64_t *ret_start_ticks, uint32_t *ret_uid);

/* Has the process of PIDFD ended? Until then, no other process has its pid. */
bool proc_has_ended(int pidfd);

/*
 * Pids, owner and start of one process, even if another process gets the pid meanwhile. False: no
 * such process, or it is in another namespace that we may not look into (ptrace(2), "access mode
 * checking").
 */
bool proc_read(pid_t pid, ProcInfo *ret_info);

/*
 * The first kilobyte of the command line, with blanks between the arguments, in UTF-8; the caller
 * frees it with g_free(). NULL: no such process, or a process of the kernel. The process can delay
 * the read for any time.
 */
char *proc_command(pid_t pid);

/* ns by which CLOCK_MONOTONIC of the process is ahead of ours; not 0 if one of both is in a time
 * namespace. */
int64_t proc_clock_ahead(pid_t pid);
/* ns by which CLOCK_MONOTONIC here is ahead of the kernel's own, which perf has; not 0 in a time
 * namespace. */
int64_t proc_own_clock_ahead(void);

/* Bytes; more than an ordinary process has of each. */
#define PROC_MAX_MAPS        (32u << 20) /* 65530 mappings, which the kernel allows */
#define PROC_MAX_ENVIRONMENT (8u << 20)
#define PROC_MAX_COMMAND     (8u << 20)
#define PROC_MAX_STATUS      (1u << 20) /* 65536 groups of ten digits, and some lines */

/*
 * Reads the whole file NAME of process PID, which decides about its length: RET_N bytes, and a NUL
 * after them. The caller frees them with g_free(). NULL with errno set: EFBIG if there are more
 * than MAX bytes. For environ and cmdline, the process can delay the read for any time.
 */
char *proc_read_file(pid_t pid, const char *name, size_t max, size_t *ret_n);
/* The name of thread TID of process PID, which the caller frees with g_free(). NULL: the thread has
 * ended. */
char *proc_thread_name(pid_t pid, pid_t tid);
