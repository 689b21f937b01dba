/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * TCP port: which users have sockets at a port of this machine
 *
 * The kernel's table (/proc/net/tcp, proc(5)) has the uid of each socket: no user can forge another
 * one's there, while any user may listen at a port that is free.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct TcpPort {
        bool is_listened; /* somebody listens, and is reached by a connection to 127.0.0.1 */
        bool has_uid;
        uid_t uid; /* of a listener or of an accepted connection that is not TRUSTED */
} TcpPort;

/*
 * Looks at the sockets at local PORT in the network namespace of process PID (0: our own). TRUSTED
 * is true for the owners that are expected; RET_PORT->has_uid is true if there is a socket of
 * another one. False: the table cannot be read.
 */
bool tcp_port_look(pid_t pid, uint16_t port, bool (*trusted)(uid_t uid, const void *data),
                   const void *data, TcpPort *ret_port);

/* The processes are in two network namespaces. False also if that cannot be known. */
bool net_namespace_differs(pid_t pid, pid_t other);
/* Enters the network namespace of process PID. Safe after fork(). False with errno set. */
bool net_namespace_enter(pid_t pid);
