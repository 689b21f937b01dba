/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * What /proc has about one process that runs now
 *
 * Pids are those of our own pid namespace unless stated otherwise, and /proc must be mounted for
 * that namespace: else nothing is found. A thread is not a process. One that has ended but was not
 * yet waited for is, since it still holds its pid. proc-ns.h finds processes by pids of other
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
        uint32_t uid;   /* as of proc_uid() */
        uint64_t start; /* as of proc_start_time() */
        /* The same process in each namespace that has it: [0] ours, the last one its own. */
        ProcessKey levels[PROC_MAX_LEVELS];
        unsigned n_levels;
} ProcInfo;

/* Inode of our own pid namespace, as the LTTng context pid_ns has it; 0: not known. */
uint64_t proc_own_pid_ns(void);

/* When the process was started, in ns of CLOCK_MONOTONIC, to a clock tick; 0: there is none. */
uint64_t proc_start_time(int32_t pid);
/* True if two such times can be of one program: they are measured, and vary by less than a tick. */
bool proc_is_same_start(uint64_t a, uint64_t b);

/*
 * The user who owns a running process: 0 if its real, effective and saved uids differ, since then
 * only root may look into it (ptrace(2)). Users that our user namespace does not map look all the
 * same. False: there is no such process.
 */
bool proc_uid(int32_t pid, uint32_t *ret_uid);

/* When the process with that PID was started, in clock ticks since boot, and its owner: both are of
 * one process. False: there is none. */
bool proc_identify(int32_t pid, uint64_t *ret_start_ticks, uint32_t *ret_uid);

/* Has the process of PIDFD ended? Until then, its pid is that of no other process. */
bool proc_has_ended(int pidfd);

/*
 * Pids, owner and start of one and the same process, even if the pid is given to another one
 * meanwhile. False: there is no such process, or it is in another namespace and we may not look
 * into that one (ptrace(2), "access mode checking").
 */
bool proc_read(pid_t pid, ProcInfo *ret_info);

/*
 * The first kilobyte of the command line, with blanks between the arguments, in UTF-8; the caller
 * frees it with g_free(). NULL: there is no such process, or it is one of the kernel. Reading it
 * can take as long as the process likes.
 */
char *proc_command(pid_t pid);

/* ns by which CLOCK_MONOTONIC of the process is ahead of ours: not 0 if it is in another time
 * namespace, or we are in one. */
int64_t proc_clock_ahead(pid_t pid);
/* ns by which CLOCK_MONOTONIC here is ahead of the kernel's own, which perf has: in another time
 * namespace than the first one. */
int64_t proc_own_clock_ahead(void);

/* Bytes; more than an ordinary process has of each. */
#define PROC_MAX_MAPS        (32u << 20) /* 65530 mappings, which the kernel allows */
#define PROC_MAX_ENVIRONMENT (8u << 20)
#define PROC_MAX_COMMAND     (8u << 20)
#define PROC_MAX_STATUS      (1u << 20) /* 65536 groups of ten digits, and some lines */

/*
 * Reads the whole file NAME of process PID, which controls how long it is: RET_N bytes, and a NUL
 * after them. The caller frees them with g_free(). NULL with errno set: EFBIG if there are more
 * than MAX bytes. Reading environ or cmdline can take as long as the process likes.
 */
char *proc_read_file(pid_t pid, const char *name, size_t max, size_t *ret_n);
