/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Async log: the buffers of AsyncEvents that a target has sent
 *
 * A worker writes it if the directory of its attachment's file has a directory `async`, to segments
 * in there, NAME.0, NAME.1 and so on, where NAME is the name of the attachment's file:
 * AsyncLogEntries, each followed by the bytes of its buffer (event/async-events.h), in the
 * machine's byte order, in the order of arrival. It is for a program that samples threads and runs
 * on the same machine (src/record). The reader removes the segments that it has read, except the
 * newest one. A recording without an end thus has a log that does not grow.
 */

#include "attach/target-threads.h"

#include <stddef.h>
#include <stdint.h>

#define ASYNC_LOG_DIRECTORY "async"
/* Bytes after which a segment gets no more entries. */
#define ASYNC_LOG_SEGMENT_BYTES (UINT64_C(1) << 20)
/* Segments that are there, with some two million continuations; later buffers are left out until
 * the reader has removed one. */
#define ASYNC_LOG_MAX_SEGMENTS 64u

typedef enum AsyncLogKind {
        ASYNC_LOG_BUFFER,
        ASYNC_LOG_GAP,     /* buffers may be missing here */
        ASYNC_LOG_END,     /* the last entry: the session was stopped, and all buffers have come */
        ASYNC_LOG_FLUSHED, /* all buffers have come with the events before the entry's time */
        ASYNC_LOG_CLOSED,  /* the last entry, but buffers may be missing after the one before */
} AsyncLogKind;

typedef struct AsyncLogEntry {
        uint32_t kind;       /* AsyncLogKind */
        int32_t pid;         /* of the target, as perf has it: in our own pid namespace */
        int32_t tid;         /* of the buffer's thread, the same; 0: not known */
        int64_t clock_ahead; /* ns by which the target's clock is ahead of ours */
        uint64_t n;          /* bytes of the buffer that follows; 0 with the other kinds */
        uint64_t time;       /* with FLUSHED: ns of our CLOCK_MONOTONIC; else 0 */
} AsyncLogEntry;

typedef struct AsyncLog AsyncLog;

/* PATH: of the attachment's file. THREADS: borrowed. NULL: nobody wants a log. */
AsyncLog *async_log_open(const char *path, TargetThreads *threads, int64_t clock_ahead);
/* Writes what is left. NULL is fine. */
void async_log_close(AsyncLog *log);
/* NULL is fine for LOG; so are BYTES with the kinds that have none. Entries without bytes have room
 * in a log that is full. */
void async_log_add(AsyncLog *log, AsyncLogKind kind, const uint8_t *bytes, size_t n);
/* Adds ASYNC_LOG_FLUSHED of TIME. NULL is fine. */
void async_log_add_flushed(AsyncLog *log, uint64_t time);
/* Hands all entries to the reader. NULL is fine. */
void async_log_flush(AsyncLog *log);
/* The segments of log NAME that are there: from number RET_FIRST on, before number RET_END; the
 * same numbers: none. */
void async_log_find(const char *directory, const char *name, uint32_t *ret_first,
                    uint32_t *ret_end);
/* "DIRECTORY/NAME.NUMBER"; to be freed. */
char *async_log_segment(const char *directory, const char *name, uint32_t number);
