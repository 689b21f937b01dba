/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Connection: a stream socket, and received bytes that are not taken yet
 *
 * Functions return 0 or a negative errno; -ECONNRESET if the other side has disconnected. Deadlines
 * are ms of clock_ms().
 */

#include "util/clock.h"

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Connection {
        int fd;      /* -1: none */
        char *bytes; /* owned */
        size_t begin, end, capacity;
        size_t n_searched; /* bytes at the start without a NUL */
} Connection;

#define CONNECTION_NONE                                                                            \
        (Connection)                                                                               \
        {                                                                                          \
                .fd = -1                                                                           \
        }

/* The timeout for poll() until DEADLINE. */
static inline int ms_until(int64_t deadline)
{
        int64_t ms = deadline - clock_ms();

        return ms < 0 ? 0 : ms > INT32_MAX ? INT32_MAX : (int)ms;
}

/* Connects to the socket at PATH. */
int connection_open(Connection *connection, const char *path, int64_t deadline);
/* Takes over FD, which is not O_NONBLOCK. */
void connection_adopt(Connection *connection, int fd);
void connection_close(Connection *connection);

static inline const char *connection_bytes(const Connection *connection, size_t *ret_n)
{
        *ret_n = connection->end - connection->begin;
        /* In C, nothing may be added to NULL, not even 0. */
        return connection->bytes ? connection->bytes + connection->begin : NULL;
}

/* Removes the first N bytes. */
void connection_take(Connection *connection, size_t n);

/* Sends as many bytes as can be sent without waiting: RET_N, perhaps 0. */
int connection_send_some(Connection *connection, const void *bytes, size_t n, size_t *ret_n);
int connection_send(Connection *connection, const void *bytes, size_t n, int64_t deadline);

/* Receives bytes without waiting; -EAGAIN if there are none. */
int connection_receive_some(Connection *connection);
/* Waits until bytes are received; -ETIMEDOUT after DEADLINE. */
int connection_receive(Connection *connection, int64_t deadline);
