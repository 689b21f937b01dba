/* SPDX-License-Identifier: MIT */
#include "util/rootfs.h"

#include "util/fd.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

int rootfs_open_root(pid_t pid)
{
        char path[32] = "/";
        int fd, error;

        if (pid)
                snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
        fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0 || !pid || !kept_roots_open)
                return fd;
        error = errno;
        fd = kept_roots_open(pid);
        errno = error;
        return fd;
}

int rootfs_open(int root, const char *path, uint64_t flags)
{
        const struct open_how how = {
                .flags = flags | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
        };

        return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

static bool rootfs_has_type(int fd, mode_t type)
{
        struct stat st;

        return fd >= 0 && fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type;
}

int rootfs_find(int root, const char *path)
{
        return rootfs_open(root, path, O_PATH);
}

int rootfs_find_linked(const char *path)
{
        return open(path, O_PATH | O_CLOEXEC);
}

int rootfs_open_found(int found)
{
        char link[32];

        if (!rootfs_has_type(found, S_IFREG)) {
                errno = EINVAL;
                return -1;
        }
        snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
        return open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int rootfs_open_file(int root, const char *path)
{
        FD_AUTO int found = rootfs_find(root, path);

        return found >= 0 ? rootfs_open_found(found) : -1;
}

int rootfs_open_program(pid_t pid)
{
        FD_AUTO int found = -1;
        char path[32];

        snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
        found = rootfs_find_linked(path);
        return found >= 0 ? rootfs_open_found(found) : -1;
}

bool rootfs_is_socket(int root, const char *path)
{
        FD_AUTO int fd = rootfs_open(root, path, O_PATH);

        return rootfs_has_type(fd, S_IFSOCK);
}
