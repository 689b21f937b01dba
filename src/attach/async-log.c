/* SPDX-License-Identifier: MIT */
#include "attach/async-log.h"

#include "event/async-events.h"

#include <glib.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Maximum size of a buffer in bytes; .NET 11 makes at most 65,280. */
#define MAX_BUFFER 65536u

struct AsyncLog {
        char *directory, *name; /* owned */
        FILE *file;             /* owned: the newest segment; NULL: no segment yet */
        uint64_t n_bytes;       /* of that segment */
        uint32_t oldest,
                next;    /* numbers of the oldest segment that may exist, and of the next one */
        bool is_missing; /* buffers were dropped, and the log has no entry for that yet */
        TargetThreads *threads; /* borrowed */
        int64_t clock_ahead;
        uint8_t bytes[sizeof(AsyncLogEntry) + MAX_BUFFER]; /* bytes of the current entry */
};

char *async_log_segment(const char *directory, const char *name, uint32_t number)
{
        g_autofree char *file = g_strdup_printf("%s.%u", name, (unsigned)number);

        return g_build_filename(directory, file, NULL);
}

void async_log_find(const char *directory, const char *name, uint32_t *ret_first, uint32_t *ret_end)
{
        g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
        const size_t n = strlen(name);
        uint32_t first = 0, end = 0;
        const char *file;

        while (files && (file = g_dir_read_name(files))) {
                uint64_t number;

                if (strncmp(file, name, n) != 0 || file[n] != '.' ||
                    !g_ascii_string_to_unsigned(file + n + 1, 10, 0, UINT32_MAX - 1, &number, NULL))
                        continue;
                first = end ? MIN(first, (uint32_t)number) : (uint32_t)number;
                end = MAX(end, (uint32_t)number + 1);
        }
        *ret_first = first;
        *ret_end = end;
}

static bool async_log_has(const AsyncLog *log, uint32_t number)
{
        g_autofree char *path = async_log_segment(log->directory, log->name, number);

        return access(path, F_OK) == 0;
}

AsyncLog *async_log_open(const char *path, TargetThreads *threads, int64_t clock_ahead)
{
        g_autofree char *parent = g_path_get_dirname(path);
        g_autofree char *directory = g_build_filename(parent, ASYNC_LOG_DIRECTORY, NULL);
        AsyncLog *log;

        if (access(directory, W_OK | X_OK) < 0)
                return NULL;
        log = g_new0(AsyncLog, 1);
        log->directory = g_steal_pointer(&directory);
        log->name = g_path_get_basename(path);
        log->threads = threads;
        log->clock_ahead = clock_ahead;
        return log;
}

void async_log_close(AsyncLog *log)
{
        if (!log)
                return;
        if (log->file)
                fclose(log->file);
        g_free(log->directory);
        g_free(log->name);
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

/* Continues after segments of the same name that an earlier worker left without an end. */
static void async_log_continue(AsyncLog *log)
{
        if (log->next)
                return;
        async_log_find(log->directory, log->name, &log->oldest, &log->next);
        log->is_missing |= log->next > 0;
}

/* Begins the next segment, unless the limit of segments is reached. */
static bool async_log_begin_segment(AsyncLog *log)
{
        g_autofree char *path = NULL;
        FILE *file;

        async_log_continue(log);
        while (log->oldest < log->next && !async_log_has(log, log->oldest))
                log->oldest++;
        if (log->next - log->oldest >= ASYNC_LOG_MAX_SEGMENTS)
                return false;
        /* Completes this segment: the reader removes a segment that has a successor. */
        async_log_flush(log);
        path = async_log_segment(log->directory, log->name, log->next);
        file = fopen(path, "wxe");
        if (!file)
                return false;
        if (log->file)
                fclose(log->file);
        log->file = file;
        log->n_bytes = 0;
        log->next++;
        return true;
}

/* The segment may end within an entry: the next entry begins a new segment. */
static void async_log_fail(AsyncLog *log)
{
        log->is_missing = true;
        log->n_bytes = MAX(log->n_bytes, ASYNC_LOG_SEGMENT_BYTES);
}

/* Writes an entry unchanged. */
static void async_log_write(AsyncLog *log, AsyncLogEntry *entry, const uint8_t *bytes)
{
        entry->pid = target_threads_pid(log->threads);
        entry->tid = async_log_thread(log, bytes, (size_t)entry->n);
        entry->clock_ahead = log->clock_ahead;
        memcpy(log->bytes, entry, sizeof(*entry));
        if (entry->n)
                memcpy(log->bytes + sizeof(*entry), bytes, (size_t)entry->n);
        log->n_bytes += sizeof(*entry) + entry->n;
        if (fwrite(log->bytes, sizeof(*entry) + (size_t)entry->n, 1, log->file) != 1)
                async_log_fail(log);
}

static void async_log_put(AsyncLog *log, AsyncLogEntry *entry, const uint8_t *bytes)
{
        AsyncLogEntry gap = {.kind = ASYNC_LOG_GAP};
        const bool is_full = (!log->file || log->n_bytes >= ASYNC_LOG_SEGMENT_BYTES) &&
                             !async_log_begin_segment(log);

        if (!log->file || (is_full && entry->n)) {
                log->is_missing = true;
                return;
        }
        if (log->is_missing) {
                log->is_missing = false;
                async_log_write(log, &gap, NULL);
        }
        async_log_write(log, entry, bytes);
}

void async_log_add(AsyncLog *log, AsyncLogKind kind, const uint8_t *bytes, size_t n)
{
        AsyncLogEntry entry = {.kind = kind, .n = n};

        if (log && n <= MAX_BUFFER)
                async_log_put(log, &entry, bytes);
}

void async_log_add_flushed(AsyncLog *log, uint64_t time)
{
        AsyncLogEntry entry = {.kind = ASYNC_LOG_FLUSHED, .time = time};

        if (log)
                async_log_put(log, &entry, NULL);
}

void async_log_flush(AsyncLog *log)
{
        if (log && log->file && fflush(log->file) != 0)
                async_log_fail(log);
}
