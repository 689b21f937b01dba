/* SPDX-License-Identifier: MIT */
#include "util/atomic-file.h"

#include "util/fd.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <sys/stat.h>

/* The kernel follows as many. */
#define MAX_LINKS 40

/* The file that PATH names after all links, which need not exist (owned). NULL with errno set. */
static char *target_find(const char *path)
{
        g_autofree char *target = g_strdup(path);
        unsigned i;

        for (i = 0; i < MAX_LINKS; i++) {
                g_autofree char *link = g_file_read_link(target, NULL), *directory = NULL;

                if (!link)
                        return g_steal_pointer(&target);
                directory = g_path_get_dirname(target);
                g_free(target);
                target = g_path_is_absolute(link) ? g_steal_pointer(&link)
                                                  : g_build_filename(directory, link, NULL);
        }
        errno = ELOOP;
        return NULL;
}

/* A new file beside the target, with the permissions of the file that it will replace. */
static int temporary_open(AtomicFile *file, const struct stat *old)
{
        g_autofree char *directory = g_path_get_dirname(file->target);
        g_autofree char *name = g_path_get_basename(file->target);

        file->temporary = g_strdup_printf("%s/.%.200s.XXXXXX", directory, name);
        file->fd = g_mkstemp_full(file->temporary, O_WRONLY | O_CLOEXEC, 0666);
        if (file->fd < 0) {
                int error = -errno;

                g_clear_pointer(&file->temporary, g_free);
                return error;
        }
        return old && fchmod(file->fd, old->st_mode & 0777) < 0 ? -errno : 0;
}

int atomic_file_open(AtomicFile *ret_file, const char *path)
{
        g_auto(AtomicFile) file = ATOMIC_FILE_INIT;
        struct stat st;
        bool is_there;
        int r = 0;

        if (!path || g_str_equal(path, "-")) {
                file.fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
                r = file.fd < 0 ? -errno : 0;
        } else {
                file.target = target_find(path);
                if (!file.target)
                        return -errno;
                is_there = stat(file.target, &st) == 0;
                if (is_there && !S_ISREG(st.st_mode)) {
                        file.fd = open(file.target, O_WRONLY | O_CLOEXEC | O_NOCTTY);
                        r = file.fd < 0 ? -errno : 0;
                } else {
                        r = temporary_open(&file, is_there ? &st : NULL);
                }
        }
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

/* Puts the new name on the disk, too; some file systems cannot, and need not. */
static void directory_sync(const char *path)
{
        g_autofree char *directory = g_path_get_dirname(path);
        FD_AUTO int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (fd >= 0)
                fsync(fd);
}

int atomic_file_commit(AtomicFile *file, bool sync)
{
        if (sync && file->temporary && fsync(file->fd) < 0)
                return -errno;
        /* Some file systems report only now that there was no room. */
        if (close(fd_steal(&file->fd)) < 0)
                return -errno;
        if (!file->temporary)
                return 0;
        if (g_rename(file->temporary, file->target) < 0)
                return -errno;
        g_clear_pointer(&file->temporary, g_free);
        if (sync)
                directory_sync(file->target);
        return 0;
}

void atomic_file_clear(AtomicFile *file)
{
        fd_clear(&file->fd);
        if (file->temporary)
                g_unlink(file->temporary);
        g_clear_pointer(&file->temporary, g_free);
        g_clear_pointer(&file->target, g_free);
}
