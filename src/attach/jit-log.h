/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * JIT log: which thread of a target compiled what, and when
 *
 * A worker writes it if the directory of its attachment's file has a directory `jit`, to a file of
 * the same name in there: JitLogEntries, in the machine's byte order, in the order of their ends.
 * It is for a program that samples threads and runs on the same machine (src/record).
 */

#include "attach/target-threads.h"
#include "event/record.h"

#include <stdint.h>

#define JIT_LOG_DIRECTORY "jit"
/* Bytes of one log, half a million compilations; what comes after that is left out. */
#define JIT_LOG_MAX_BYTES (UINT64_C(16) << 20)

/* One compilation; compilations of one thread are nested, or apart. */
typedef struct JitLogEntry {
        uint64_t begin, end; /* ns of CLOCK_MONOTONIC: the compilation began; the code was loaded */
        uint64_t address;    /* of the code */
        int32_t tid;         /* as perf has it: in our own pid namespace; 0: not known */
        int32_t pid;         /* the same */
} JitLogEntry;

typedef struct JitLog JitLog;

/* PATH: of the attachment's file. THREADS: borrowed. NULL: nobody wants a log. */
JitLog *jit_log_open(const char *path, TargetThreads *threads);
/* Writes what is left. NULL is fine. */
void jit_log_close(JitLog *log);
/* Takes the next record of the target. NULL is fine. */
void jit_log_take(JitLog *log, const Record *record);
