/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Async log: the buffers of AsyncEvents that a target has sent
 *
 * A worker writes the log if the directory of its attachment's file has a directory `async`. The
 * log has segments there, NAME.0, NAME.1 and so on, where NAME is the name of the attachment's
 * file. They contain AsyncLogEntries, each followed by the bytes of its buffer
 * (event/async-events.h), in the machine's byte order, in the order of arrival. The reader is a
 * program on the same machine that samples threads (src/record). It removes the segments that it
 * has read, except the newest one, so the log of an endless recording does not grow.
 */

#include "attach/target-threads.h"

#include <stddef.h>
#include <stdint.h>

#define ASYNC_LOG_DIRECTORY "async"
/* Bytes after which a new segment begins. */
#define ASYNC_LOG_SEGMENT_BYTES (UINT64_C(1) << 20)
/* Maximum number of segments, about two million continuations; buffers are dropped until the reader
 * removes a segment. */
#define ASYNC_LOG_MAX_SEGMENTS 64u

typedef enum AsyncLogKind {
        ASYNC_LOG_BUFFER,
        ASYNC_LOG_GAP,     /* buffers may be missing here */
        ASYNC_LOG_END,     /* the last entry: the session was stopped, and the log is complete */
        ASYNC_LOG_FLUSHED, /* the log is complete up to the entry's time */
        ASYNC_LOG_CLOSED,  /* the last entry; buffers may be missing after the entry before */
} AsyncLogKind;

typedef struct AsyncLogEntry {
        uint32_t kind;       /* AsyncLogKind */
        int32_t pid;         /* pid of the target, as perf has it: in our own pid namespace */
        int32_t tid;         /* id of the buffer's thread, likewise; 0: not known */
        int64_t clock_ahead; /* ns by which the target's clock is ahead of ours */
        uint64_t n;          /* bytes of the buffer that follows; 0 with the other kinds */
        uint64_t time;       /* with FLUSHED: ns of our CLOCK_MONOTONIC; else 0 */
} AsyncLogEntry;

typedef struct AsyncLog AsyncLog;

/* PATH: the attachment's file. THREADS: borrowed. NULL: no log is wanted. */
AsyncLog *async_log_open(const char *path, TargetThreads *threads, int64_t clock_ahead);
/* Writes the rest. NULL is fine. */
void async_log_close(AsyncLog *log);
/* LOG may be NULL; BYTES is NULL for kinds without bytes. Entries without bytes fit into a full
 * log. */
void async_log_add(AsyncLog *log, AsyncLogKind kind, const uint8_t *bytes, size_t n);
/* Adds ASYNC_LOG_FLUSHED of TIME. NULL is fine. */
void async_log_add_flushed(AsyncLog *log, uint64_t time);
/* Makes all entries visible to the reader. NULL is fine. */
void async_log_flush(AsyncLog *log);
/* Finds the existing segments of log NAME: from number RET_FIRST up to RET_END, exclusive. Equal
 * numbers: none. */
void async_log_find(const char *directory, const char *name, uint32_t *ret_first,
                    uint32_t *ret_end);
/* "DIRECTORY/NAME.NUMBER"; to be freed. */
char *async_log_segment(const char *directory, const char *name, uint32_t number);
