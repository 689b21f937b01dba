/* SPDX-License-Identifier: MIT */
#include "client/connection.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* Free bytes in the buffer before each read. */
#define READ_SIZE (64u << 10)
/* A buffer that grew beyond this for one long reply is freed. */
#define MAX_KEPT (1u << 20)

void connection_adopt(Connection *connection, int fd)
{
        /* Waiting in recv() alone saves the system call poll() for each answer. recv() returns
         * every second, so that deadlines hold. */
        const struct timeval second = {.tv_sec = 1};

        *connection = (Connection){.fd = fd};
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof(second));
}

/* Limits how long connect() waits for room in the daemon's queue. */
static int connect_until(int fd, const struct sockaddr_un *address, int64_t deadline)
{
        while (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0) {
                int error = errno;

                if (error != EINTR && error != EAGAIN)
                        return -error;
                if (clock_ms() >= deadline)
                        return -ETIMEDOUT;
                if (error == EAGAIN)
                        poll(NULL, 0, 10);
        }
        return 0;
}

int connection_open(Connection *connection, const char *path, int64_t deadline)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        size_t n = strlen(path);
        int fd, r;

        if (n == 0)
                return -ENOENT;
        if (n >= sizeof(address.sun_path))
                return -ENAMETOOLONG;
        memcpy(address.sun_path, path, n);
        fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return -errno;
        r = connect_until(fd, &address, deadline);
        if (r == 0 && fcntl(fd, F_SETFL, 0) < 0)
                r = -errno;
        if (r < 0) {
                close(fd);
                return r;
        }
        connection_adopt(connection, fd);
        return 0;
}

void connection_close(Connection *connection)
{
        if (connection->fd >= 0)
                close(connection->fd);
        free(connection->bytes);
        *connection = CONNECTION_NONE;
}

void connection_take(Connection *connection, size_t n)
{
        connection->begin += n;
        connection->n_searched = 0;
        if (connection->begin < connection->end)
                return;
        connection->begin = connection->end = 0;
        if (connection->capacity > MAX_KEPT) {
                free(connection->bytes);
                connection->bytes = NULL;
                connection->capacity = 0;
        }
}

int connection_send_some(Connection *connection, const void *bytes, size_t n, size_t *ret_n)
{
        ssize_t sent;

        do
                sent = send(connection->fd, bytes, n, MSG_NOSIGNAL | MSG_DONTWAIT);
        while (sent < 0 && errno == EINTR);
        *ret_n = sent < 0 ? 0 : (size_t)sent;
        if (sent >= 0 || errno == EAGAIN)
                return 0;
        return errno == EPIPE ? -ECONNRESET : -errno;
}

int connection_send(Connection *connection, const void *bytes, size_t n, int64_t deadline)
{
        const char *rest = bytes;

        for (;;) {
                struct pollfd poll_fd = {.fd = connection->fd, .events = POLLOUT};
                size_t sent;
                int r = connection_send_some(connection, rest, n, &sent);

                if (r < 0)
                        return r;
                rest += sent;
                n -= sent;
                if (n == 0)
                        return 0;
                if (clock_ms() >= deadline)
                        return -ETIMEDOUT;
                if (poll(&poll_fd, 1, ms_until(deadline)) < 0 && errno != EINTR)
                        return -errno;
        }
}

/* Makes room for READ_SIZE bytes after those in the buffer. */
static int connection_make_room(Connection *connection)
{
        size_t n = connection->end - connection->begin;
        size_t capacity = connection->capacity;
        char *bytes;

        if (connection->begin) {
                memmove(connection->bytes, connection->bytes + connection->begin, n);
                connection->begin = 0;
                connection->end = n;
        }
        if (capacity - n >= READ_SIZE)
                return 0;
        capacity = capacity ? 2 * capacity : 2 * READ_SIZE;
        bytes = realloc(connection->bytes, capacity);
        if (!bytes)
                return -ENOMEM;
        connection->bytes = bytes;
        connection->capacity = capacity;
        return 0;
}

static int connection_receive_once(Connection *connection, int flags)
{
        ssize_t n;
        int r = connection_make_room(connection);

        if (r < 0)
                return r;
        n = recv(connection->fd, connection->bytes + connection->end,
                 connection->capacity - connection->end, flags);
        if (n < 0)
                return -errno;
        if (n == 0)
                return -ECONNRESET;
        connection->end += (size_t)n;
        return 0;
}

int connection_receive_some(Connection *connection)
{
        int r;

        do
                r = connection_receive_once(connection, MSG_DONTWAIT);
        while (r == -EINTR);
        return r;
}

int connection_receive(Connection *connection, int64_t deadline)
{
        for (;;) {
                int r = connection_receive_once(connection, 0);

                if (r != -EAGAIN && r != -EINTR)
                        return r;
                if (clock_ms() >= deadline)
                        return -ETIMEDOUT;
        }
}
