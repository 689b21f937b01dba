/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Async log: the buffers of AsyncEvents that a target has sent
 *
 * A worker writes it if the directory of its attachment's file has a directory `async`, to a file
 * of the same name in there: AsyncLogEntries, each followed by the bytes of its buffer
 * (event/async-events.h), in the machine's byte order, in the order of arrival. It is for a program
 * that samples threads and runs on the same machine (src/record).
 */

#include "attach/target-threads.h"

#include <stddef.h>
#include <stdint.h>

#define ASYNC_LOG_DIRECTORY "async"
/* Bytes of one log, some two million continuations; later ones are left out. */
#define ASYNC_LOG_MAX_BYTES (UINT64_C(64) << 20)

typedef enum AsyncLogKind {
        ASYNC_LOG_BUFFER,
        ASYNC_LOG_GAP, /* buffers may be missing here */
        ASYNC_LOG_END, /* the last entry: the session was stopped, and all buffers have come */
} AsyncLogKind;

typedef struct AsyncLogEntry {
        uint32_t kind;       /* AsyncLogKind */
        int32_t pid;         /* of the target, as perf has it: in our own pid namespace */
        int32_t tid;         /* of the buffer's thread, the same; 0: not known */
        int64_t clock_ahead; /* ns by which the target's clock is ahead of ours */
        uint64_t n;          /* bytes of the buffer that follows; 0 with the other kinds */
} AsyncLogEntry;

typedef struct AsyncLog AsyncLog;

/* PATH: of the attachment's file. THREADS: borrowed. NULL: nobody wants a log. */
AsyncLog *async_log_open(const char *path, TargetThreads *threads, int64_t clock_ahead);
/* Writes what is left. NULL is fine. */
void async_log_close(AsyncLog *log);
/* NULL is fine for LOG; so are BYTES with the kinds that have none. */
void async_log_add(AsyncLog *log, AsyncLogKind kind, const uint8_t *bytes, size_t n);
