/* SPDX-License-Identifier: MIT */
#include "util/unix-socket.h"

#include "util/clock.h"
#include "util/fd.h"

#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>

/* ms between two tries while the listener's backlog is full. */
#define RETRY_MS 10

static int unix_set_address(struct sockaddr_un *address, const char *path)
{
        size_t n = strlen(path);

        if (n == 0)
                return -ENOENT;
        if (n >= sizeof(address->sun_path))
                return -ENAMETOOLONG;
        *address = (struct sockaddr_un){.sun_family = AF_UNIX};
        memcpy(address->sun_path, path, n);
        return 0;
}

int unix_connect(const char *path, int flags, int wait_ms)
{
        const int64_t deadline = wait_ms > 0 ? clock_ms() + wait_ms : 0;
        struct sockaddr_un address;
        FD_AUTO int fd = -1;
        int r = unix_set_address(&address, path);

        if (r < 0)
                return r;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        while (connect(fd, (const struct sockaddr *)&address, sizeof(address)) < 0) {
                if (errno == EINTR)
                        continue;
                if (errno != EAGAIN || wait_ms == 0)
                        return -errno;
                if (wait_ms > 0 && clock_ms() >= deadline)
                        return -ETIMEDOUT;
                poll(NULL, 0, RETRY_MS);
        }
        if (!(flags & SOCK_NONBLOCK) && fcntl(fd, F_SETFL, 0) < 0)
                return -errno;
        return fd_steal(&fd);
}

int unix_listen(const char *path, mode_t mode)
{
        struct sockaddr_un address;
        FD_AUTO int fd = -1;
        int r = unix_set_address(&address, path);

        if (r < 0)
                return r;
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        /* bind() gives the file the present mode of the socket. */
        if (fd < 0 || fchmod(fd, mode) < 0 ||
            bind(fd, (const struct sockaddr *)&address, sizeof(address)) < 0 ||
            listen(fd, SOMAXCONN) < 0)
                return -errno;
        return fd_steal(&fd);
}

const char *unix_socket_reason(int error)
{
        error = error < 0 ? -error : error;
        return error == ENAMETOOLONG ? "the path is longer than a socket's path can be"
                                     : strerror(error);
}
