/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Connection: a stream socket, and what came from it and was not taken yet
 *
 * Functions return 0 or a negative errno; the other side's hanging up is -ECONNRESET. Deadlines are
 * ms of clock_ms().
 */

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

typedef struct Connection {
        int fd;      /* -1: none */
        char *bytes; /* owned */
        size_t begin, end, capacity;
        size_t n_searched; /* of what came: known to have no NUL */
} Connection;

#define CONNECTION_NONE                                                                            \
        (Connection)                                                                               \
        {                                                                                          \
                .fd = -1                                                                           \
        }

static inline int64_t clock_ms(void)
{
        struct timespec now;

        clock_gettime(CLOCK_MONOTONIC, &now);
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A poll()'s timeout until DEADLINE. */
static inline int ms_until(int64_t deadline)
{
        int64_t ms = deadline - clock_ms();

        return ms < 0 ? 0 : ms > INT32_MAX ? INT32_MAX : (int)ms;
}

/* To the socket at PATH. */
int connection_open(Connection *connection, const char *path, int64_t deadline);
/* Takes over FD, which is not O_NONBLOCK. */
void connection_adopt(Connection *connection, int fd);
void connection_close(Connection *connection);

static inline const char *connection_bytes(const Connection *connection, size_t *ret_n)
{
        *ret_n = connection->end - connection->begin;
        return connection->bytes + connection->begin;
}

/* N bytes of what came are done with. */
void connection_take(Connection *connection, size_t n);

/* Sends what goes now: RET_N bytes, maybe none. */
int connection_send_some(Connection *connection, const void *bytes, size_t n, size_t *ret_n);
int connection_send(Connection *connection, const void *bytes, size_t n, int64_t deadline);

/* Keeps what has come; -EAGAIN if that is nothing. */
int connection_receive_some(Connection *connection);
/* Waits until something comes; -ETIMEDOUT. */
int connection_receive(Connection *connection, int64_t deadline);
