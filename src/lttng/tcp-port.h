/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * TCP port: which users have sockets at a port of this machine
 *
 * The kernel's table (/proc/net/tcp, proc(5)) has the uid of each socket, and no user can forge it,
 * while any user may listen at a free port.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct TcpPort {
        bool is_listened; /* a connection to 127.0.0.1 reaches a listener */
        bool has_uid;
        uid_t uid; /* the owner, not TRUSTED, of a listener or of an accepted connection */
} TcpPort;

/*
 * Looks at the sockets at local PORT in the network namespace of process PID (0: our own). TRUSTED
 * is true for expected owners; RET_PORT->has_uid is true if a socket has another owner. False: the
 * table cannot be read.
 */
bool tcp_port_look(pid_t pid, uint16_t port, bool (*trusted)(uid_t uid, const void *data),
                   const void *data, TcpPort *ret_port);

/* True if the processes are in two network namespaces. False also if that cannot be known. */
bool net_namespace_differs(pid_t pid, pid_t other);
/* Enters the network namespace of process PID. Safe after fork(). False with errno set. */
bool net_namespace_enter(pid_t pid);
