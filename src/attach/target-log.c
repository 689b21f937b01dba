/* SPDX-License-Identifier: MIT */
#include "attach/target-log.h"

#include <glib.h>
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* Thousands of methods are compiled in a second. */
#define BUFFER_SIZE (64u << 10)

struct TargetLog {
        FILE *file;         /* owned */
        uint64_t n_bytes;   /* of the file, without a hole at its begin that is newer */
        uint64_t max_bytes; /* of the same */
};

TargetLog *target_log_open(const char *path, const char *directory, uint64_t max_bytes)
{
        g_autofree char *parent = g_path_get_dirname(path), *name = g_path_get_basename(path);
        g_autofree char *own = g_build_filename(parent, directory, name, NULL);
        FILE *file = fopen(own, "ae");
        TargetLog *log;

        if (!file)
                return NULL;
        log = g_new0(TargetLog, 1);
        log->file = file;
        log->max_bytes = max_bytes;
        setvbuf(file, NULL, _IOFBF, BUFFER_SIZE);
        return log;
}

void target_log_close(TargetLog *log)
{
        if (!log)
                return;
        fclose(log->file);
        g_free(log);
}

void target_log_flush(TargetLog *log)
{
        if (log)
                fflush(log->file);
}

/* Has the log room for N bytes? The reader may have made some. */
static bool target_log_has_room(TargetLog *log, size_t n)
{
        struct stat st;
        off_t data;

        if (log->n_bytes + n <= log->max_bytes)
                return true;
        fflush(log->file);
        if (fstat(fileno(log->file), &st) < 0)
                return false;
        data = lseek(fileno(log->file), 0, SEEK_DATA);
        if (data < 0)
                data = errno == ENXIO ? st.st_size : 0;
        log->n_bytes = (uint64_t)(st.st_size - MIN(data, st.st_size));
        return log->n_bytes + n <= log->max_bytes;
}

bool target_log_write(TargetLog *log, const void *entry, size_t n)
{
        if (!target_log_has_room(log, n))
                return false;
        fwrite(entry, n, 1, log->file);
        log->n_bytes += n;
        return !target_log_has_room(log, n);
}
