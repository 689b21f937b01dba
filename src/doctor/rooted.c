/* SPDX-License-Identifier: MIT */
#include "doctor/rooted.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

int rooted_open_root(pid_t pid)
{
        g_autofree char *path = pid ? g_strdup_printf("/proc/%d/root", (int)pid) : g_strdup("/");

        return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

static int open_file(int root, const char *path)
{
        struct open_how how = {
                /* Not to wait for whoever might be at the other end of a pipe. */
                .flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
        };
        int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
        struct stat st;

        if (fd < 0)
                return -1;
        if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
                return fd;
        close(fd);
        errno = EINVAL;
        return -1;
}

GBytes *rooted_read(int root, const char *path, size_t max)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        int fd = open_file(root, path);
        ssize_t n = 1;

        if (fd < 0)
                return NULL;
        while (n > 0 && bytes->len < max) {
                guint old = bytes->len;
                size_t room = MIN(max - old, 65536);

                g_byte_array_set_size(bytes, (guint)(old + room));
                n = read(fd, bytes->data + old, room);
                g_byte_array_set_size(bytes, old + (guint)MAX(n, 0));
                if (n < 0 && errno == EINTR)
                        n = 1;
        }
        close(fd);
        return n < 0 ? NULL : g_byte_array_free_to_bytes(g_steal_pointer(&bytes));
}

bool rooted_is_socket(int root, const char *path)
{
        struct open_how how = {
                .flags = O_PATH | O_CLOEXEC,
                .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
        };
        int fd = (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
        struct stat st;
        bool is_socket = fd >= 0 && fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode);

        if (fd >= 0)
                close(fd);
        return is_socket;
}
