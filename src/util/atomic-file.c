/* SPDX-License-Identifier: MIT */
#include "util/atomic-file.h"

#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

/* Attempts to find a name for a new file. */
#define MAX_NAMES 100

/* A new file beside the target, with the permissions of the file that it will replace. */
static int atomic_file_make(AtomicFile *file)
{
        const OutputPath *target = &file->target;
        unsigned i;

        for (i = 0; file->fd < 0 && i < MAX_NAMES; i++) {
                g_free(file->temporary);
                file->temporary = g_strdup_printf(".%.200s.%08x", target->name, g_random_int());
                file->fd = openat(target->directory, file->temporary,
                                  O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
                if (file->fd < 0 && errno != EEXIST)
                        break;
        }
        if (file->fd < 0) {
                int error = -errno;

                g_clear_pointer(&file->temporary, g_free);
                return error;
        }
        return target->is_there && fchmod(file->fd, target->stat.st_mode & 0777) < 0 ? -errno : 0;
}

int atomic_file_open(AtomicFile *ret_file, const char *path)
{
        g_auto(AtomicFile) file = ATOMIC_FILE_INIT;
        int r;

        if (!path || g_str_equal(path, "-")) {
                file.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
                r = file.fd < 0 ? -errno : 0;
        } else {
                r = output_path_find(&file.target, path);
                if (r < 0)
                        return r;
                if (file.target.is_there && !S_ISREG(file.target.stat.st_mode)) {
                        file.fd = output_path_open(path, O_WRONLY, 0);
                        r = MIN(file.fd, 0);
                } else {
                        r = atomic_file_make(&file);
                }
        }
        if (r < 0)
                return r;
        *ret_file = file;
        file = ATOMIC_FILE_INIT;
        return 0;
}

int atomic_file_open_in(AtomicFile *ret_file, int directory, const char *name)
{
        g_auto(AtomicFile) file = ATOMIC_FILE_INIT;
        int r;

        file.target.directory = fcntl(directory, F_DUPFD_CLOEXEC, 0);
        if (file.target.directory < 0)
                return -errno;
        file.target.name = g_strdup(name);
        r = atomic_file_make(&file);
        if (r < 0)
                return r;
        *ret_file = file;
        file = ATOMIC_FILE_INIT;
        return 0;
}

int atomic_file_write(AtomicFile *file, const void *bytes, size_t n)
{
        const char *at = bytes;

        while (n > 0) {
                ssize_t written = write(file->fd, at, n);

                if (written < 0 && errno != EINTR)
                        return -errno;
                at += MAX(written, 0);
                n -= (size_t)MAX(written, 0);
        }
        return 0;
}

/* Syncs the new name, too, if the file system can. */
static void directory_sync(int directory)
{
        FD_AUTO int fd = openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd >= 0)
                fsync(fd);
}

int atomic_file_commit(AtomicFile *file, bool sync)
{
        const OutputPath *target = &file->target;

        if (sync && file->temporary && fsync(file->fd) < 0)
                return -errno;
        /* Some file systems report a full disk only now. */
        if (close(fd_steal(&file->fd)) < 0)
                return -errno;
        if (!file->temporary)
                return 0;
        if (renameat(target->directory, file->temporary, target->directory, target->name) < 0)
                return -errno;
        g_clear_pointer(&file->temporary, g_free);
        if (sync)
                directory_sync(target->directory);
        return 0;
}

void atomic_file_clear(AtomicFile *file)
{
        fd_clear(&file->fd);
        if (file->temporary)
                unlinkat(file->target.directory, file->temporary, 0);
        g_clear_pointer(&file->temporary, g_free);
        output_path_clear(&file->target);
}
