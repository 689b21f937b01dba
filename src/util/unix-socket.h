/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Unix stream sockets by path
 *
 * Descriptors are closed on exec. Errors are negative errno values: -ENAMETOOLONG for a path that
 * is too long for a socket, -ENOENT for an empty one.
 */

#include <errno.h>
#include <stdbool.h>
#include <sys/types.h>

/* UNIX_WAIT_FOREVER: no timeout. */
#define UNIX_WAIT_FOREVER (-1)

/*
 * Connects to the socket at PATH. While the listener's backlog is full, retries for WAIT_MS; then
 * fails with -EAGAIN if WAIT_MS is 0, else with -ETIMEDOUT. FLAGS is 0 or SOCK_NONBLOCK, for the
 * socket that is returned.
 */
int unix_connect(const char *path, int flags, int wait_ms);

/* True if unix_connect() failed with ERROR because nobody listens at the path. */
static inline bool unix_socket_is_absent(int error)
{
        return error == -ENOENT || error == -ENOTDIR || error == -ENOTSOCK ||
               error == -ECONNREFUSED;
}

/* Binds a new socket to PATH, which must not exist, and listens. Non-blocking. The socket file
 * never has more permissions than MODE; the umask removes further ones. */
int unix_listen(const char *path, mode_t mode);

/* The meaning of such an error, for people. Static, or strerror()'s. */
const char *unix_socket_reason(int error);
