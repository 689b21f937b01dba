/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JIT log: the compilations of a target's threads
 *
 * A worker writes the log if the directory of its attachment's file has a directory `jit`, to a
 * file of the same name there: JitLogEntries, in the machine's byte order, ordered by their ends.
 * The reader is a program on the same machine that samples threads (src/record).
 */

#include "attach/target-threads.h"
#include "event/record.h"

#include <stdint.h>

#define JIT_LOG_DIRECTORY "jit"
/* Maximum size of a log in bytes, half a million compilations; later ones are dropped. */
#define JIT_LOG_MAX_BYTES (UINT64_C(16) << 20)

/* One compilation. Compilations of one thread are nested, or do not overlap. */
typedef struct JitLogEntry {
        uint64_t begin, end; /* ns of CLOCK_MONOTONIC: begin of the compilation; load of the code */
        uint64_t address;    /* address of the code */
        int32_t tid;         /* thread id as perf has it: in our own pid namespace; 0: not known */
        int32_t pid;         /* pid, likewise */
} JitLogEntry;

typedef struct JitLog JitLog;

/* PATH: the attachment's file. THREADS: borrowed. NULL: no log is wanted. */
JitLog *jit_log_open(const char *path, TargetThreads *threads);
/* Writes the rest. NULL is fine. */
void jit_log_close(JitLog *log);
/* Hands all entries to the reader. NULL is fine. */
void jit_log_flush(JitLog *log);
/* Takes the next record of the target. NULL is fine. */
void jit_log_take(JitLog *log, const Record *record);
