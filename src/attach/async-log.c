/* SPDX-License-Identifier: MIT */
#include "attach/async-log.h"

#include "attach/target-log.h"
#include "event/async-events.h"

#include <glib.h>
#include <string.h>

/* Bytes of a buffer; .NET 11 makes buffers of 65,280 at most. */
#define MAX_BUFFER 65536u

struct AsyncLog {
        TargetLog *file;        /* owned */
        TargetThreads *threads; /* borrowed */
        int64_t clock_ahead;
        uint8_t bytes[sizeof(AsyncLogEntry) + MAX_BUFFER]; /* of the entry that is written */
};

AsyncLog *async_log_open(const char *path, TargetThreads *threads, int64_t clock_ahead)
{
        TargetLog *file = target_log_open(path, ASYNC_LOG_DIRECTORY, ASYNC_LOG_MAX_BYTES);
        AsyncLog *log;

        if (!file)
                return NULL;
        log = g_new(AsyncLog, 1);
        log->file = file;
        log->threads = threads;
        log->clock_ahead = clock_ahead;
        return log;
}

void async_log_close(AsyncLog *log)
{
        if (!log)
                return;
        target_log_close(log->file);
        g_free(log);
}

/* As perf has it; 0: not known. */
static int32_t async_log_thread(const AsyncLog *log, const uint8_t *bytes, size_t n)
{
        AsyncBuffer buffer;

        return n && async_buffer_read(&buffer, bytes, n) && buffer.tid <= INT32_MAX
                       ? target_threads_find(log->threads, (int32_t)buffer.tid)
                       : 0;
}

void async_log_add(AsyncLog *log, AsyncLogKind kind, const uint8_t *bytes, size_t n)
{
        AsyncLogEntry entry = {.kind = kind, .n = n};

        if (!log || n > MAX_BUFFER)
                return;
        entry.pid = target_threads_pid(log->threads);
        entry.tid = async_log_thread(log, bytes, n);
        entry.clock_ahead = log->clock_ahead;
        memcpy(log->bytes, &entry, sizeof(entry));
        if (n)
                memcpy(log->bytes + sizeof(entry), bytes, n);
        target_log_write(log->file, log->bytes, sizeof(entry) + n);
}
