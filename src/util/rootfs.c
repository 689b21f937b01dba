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

        if (pid)
                snprintf(path, sizeof(path), "/proc/%d/root", (int)pid);
        return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
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

int rootfs_open_file(int root, const char *path)
{
        /* Opening a device can have an effect, so look at what it is before it is opened. */
        FD_AUTO int found = rootfs_open(root, path, O_PATH);
        char link[32];

        if (found < 0)
                return -1;
        if (!rootfs_has_type(found, S_IFREG)) {
                errno = EINVAL;
                return -1;
        }
        snprintf(link, sizeof(link), "/proc/self/fd/%d", found);
        return open(link, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

bool rootfs_is_socket(int root, const char *path)
{
        FD_AUTO int fd = rootfs_open(root, path, O_PATH);

        return rootfs_has_type(fd, S_IFSOCK);
}
