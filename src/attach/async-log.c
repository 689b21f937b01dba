/* SPDX-License-Identifier: MIT */
#include "attach/async-log.h"

#include "attach/target-log.h"

#include <glib.h>
#include <string.h>

/* Bytes of a buffer; .NET 11 makes buffers of 65,280 at most. */
#define MAX_BUFFER 65536u

struct AsyncLog {
        TargetLog *file; /* owned */
        int32_t pid;
        int64_t clock_ahead;
        uint8_t bytes[sizeof(AsyncLogEntry) + MAX_BUFFER]; /* of the entry that is written */
};

AsyncLog *async_log_open(const char *path, int32_t pid, int64_t clock_ahead)
{
        TargetLog *file = target_log_open(path, ASYNC_LOG_DIRECTORY, ASYNC_LOG_MAX_BYTES);
        AsyncLog *log;

        if (!file)
                return NULL;
        log = g_new(AsyncLog, 1);
        log->file = file;
        log->pid = pid;
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

void async_log_add(AsyncLog *log, AsyncLogKind kind, const uint8_t *bytes, size_t n)
{
        const AsyncLogEntry entry = {
                .kind = kind,
                .pid = log ? log->pid : 0,
                .clock_ahead = log ? log->clock_ahead : 0,
                .n = n,
        };

        if (!log || n > MAX_BUFFER)
                return;
        memcpy(log->bytes, &entry, sizeof(entry));
        if (n)
                memcpy(log->bytes + sizeof(entry), bytes, n);
        target_log_write(log->file, log->bytes, sizeof(entry) + n);
}
