/* SPDX-License-Identifier: MIT */
#include "attach/target-log.h"

#include <glib.h>
#include <errno.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <sys/stat.h>
#include <unistd.h>

/* Thousands of methods are compiled in a second. */
#define BUFFER_SIZE (64u << 10)

struct TargetLog {
        FILE *file;         /* owned */
        size_t size;        /* bytes of an entry; 0: none was written */
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

/* Drops what could not be written, and the part of an entry that was, for example on a full disk.
 */
static void target_log_repair(TargetLog *log)
{
        struct stat st;

        __fpurge(log->file);
        clearerr(log->file);
        if (fstat(fileno(log->file), &st) == 0 && st.st_size % (off_t)log->size != 0 &&
            ftruncate(fileno(log->file), st.st_size - st.st_size % (off_t)log->size) < 0)
                log->max_bytes = 0;
}

void target_log_flush(TargetLog *log)
{
        if (log && fflush(log->file) != 0 && log->size)
                target_log_repair(log);
}

/* Has the log room for N bytes? The reader may have made some. */
static bool target_log_has_room(TargetLog *log, size_t n)
{
        struct stat st;
        off_t data;

        if (log->n_bytes + n <= log->max_bytes)
                return true;
        target_log_flush(log);
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
        log->size = n;
        if (!target_log_has_room(log, n))
                return false;
        if (fwrite(entry, n, 1, log->file) != 1)
                target_log_repair(log);
        log->n_bytes += n;
        return !target_log_has_room(log, n);
}
