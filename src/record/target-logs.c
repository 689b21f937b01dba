/* SPDX-License-Identifier: MIT */
#include "record/target-logs.h"

#include "util/fd.h"

#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bytes that are read at a time, about. */
#define CHUNK (64u << 10)
/* us after the last entry of a process that has ended: its worker writes the rest meanwhile. */
#define IDLE_LIMIT (60 * G_TIME_SPAN_SECOND)

typedef struct LogReading {
        uint64_t offset; /* bytes that were read */
        gint64 last;     /* us of g_get_monotonic_time(): the last entry was read */
        bool is_cut;     /* an entry was not taken */
} LogReading;

struct TargetLogs {
        char *directory;      /* owned */
        GHashTable *readings; /* owned: owned name of the log -> owned LogReading */
        size_t size;          /* bytes of an entry */
};

TargetLogs *target_logs_new(const char *directory, size_t size)
{
        TargetLogs *logs = g_new0(TargetLogs, 1);

        logs->directory = g_strdup(directory);
        logs->readings = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
        logs->size = size;
        return logs;
}

void target_logs_free(TargetLogs *logs)
{
        g_hash_table_unref(logs->readings);
        g_free(logs->directory);
        g_free(logs);
}

static LogReading *target_logs_reading(TargetLogs *logs, const char *name)
{
        LogReading *reading = g_hash_table_lookup(logs->readings, name);

        if (!reading) {
                reading = g_new0(LogReading, 1);
                reading->last = g_get_monotonic_time();
                g_hash_table_insert(logs->readings, g_strdup(name), reading);
        }
        return reading;
}

/* Passes on the whole entries that are at the reading's offset. False: there are none. */
static bool reading_take_chunk(LogReading *reading, int fd, size_t size, TargetLogsTake take,
                               void *data)
{
        g_autofree uint8_t *bytes = g_malloc(CHUNK);
        const ssize_t n = pread(fd, bytes, CHUNK - CHUNK % size, (off_t)reading->offset);
        size_t at;

        for (at = 0; n > 0 && (size_t)n - at >= size; at += size)
                reading->is_cut |= !take(bytes + at, data);
        reading->offset += at;
        return at > 0;
}

static void target_logs_read_one(TargetLogs *logs, const char *name, TargetLogsTake take,
                                 void *data)
{
        g_autofree char *path = g_build_filename(logs->directory, name, NULL);
        FD_AUTO int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        LogReading *reading = target_logs_reading(logs, name);
        const uint64_t before = reading->offset;

        if (fd < 0)
                return;
        while (reading_take_chunk(reading, fd, logs->size, take, data))
                ;
        if (reading->offset == before)
                return;
        reading->last = g_get_monotonic_time();
        /* A file system that cannot do this keeps the log, up to its limit. */
        fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, (off_t)reading->offset);
}

void target_logs_read(TargetLogs *logs, TargetLogsTake take, void *data)
{
        g_autoptr(GDir) files = g_dir_open(logs->directory, 0, NULL);
        const char *name;

        while (files && (name = g_dir_read_name(files)))
                target_logs_read_one(logs, name, take, data);
}

/* "PID-START", the name of the attachment's file. */
static bool log_is_of_ended(const char *name, int32_t *ret_pid)
{
        g_autofree char *path = NULL;

        *ret_pid = (int32_t)strtol(name, NULL, 10);
        path = g_strdup_printf("/proc/%d", (int)*ret_pid);
        return access(path, F_OK) < 0;
}

void target_logs_forget(TargetLogs *logs, TargetLogsEnded ended, void *data)
{
        const gint64 now = g_get_monotonic_time();
        GHashTableIter iter;
        gpointer name, value;
        int32_t pid;

        g_hash_table_iter_init(&iter, logs->readings);
        while (g_hash_table_iter_next(&iter, &name, &value)) {
                const LogReading *reading = value;
                g_autofree char *path = NULL;

                if (now - reading->last < IDLE_LIMIT || !log_is_of_ended(name, &pid))
                        continue;
                path = g_build_filename(logs->directory, name, NULL);
                unlink(path);
                g_hash_table_iter_remove(&iter);
                ended(pid, data);
        }
}

unsigned target_logs_n_cut(const TargetLogs *logs, uint64_t max_bytes)
{
        GHashTableIter iter;
        gpointer value;
        unsigned n = 0;

        g_hash_table_iter_init(&iter, logs->readings);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const LogReading *reading = value;

                n += reading->is_cut || reading->offset + logs->size > max_bytes;
        }
        return n;
}
