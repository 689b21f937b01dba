/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reverse port: a socket to which runtimes connect (DOTNET_DiagnosticPorts)
 *
 * A runtime connects, announces itself and waits for one command; after that it reconnects. A
 * runtime that was started with "suspend" runs no managed code before it gets the command to resume
 * on such a connection. Meanwhile a session is opened on its own port. The kernel, not the
 * announcement, identifies the process of a connection.
 *
 * Every runtime starts in the end: after REVERSE_PORT_PATIENCE it is resumed in any case. Each is
 * resumed once; later connections of a resumed runtime are kept, and left alone.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* ms: opening a session takes some ms, on a busy machine much longer. */
#define REVERSE_PORT_PATIENCE 10000

typedef struct ReversePort ReversePort;

/* The process that has connected. */
typedef struct ReverseRuntime {
        pid_t pid; /* in our own pid namespace */
        uint64_t start_ticks;
        uid_t uid;
} ReverseRuntime;

typedef struct ReversePortCalls {
        /* A runtime has connected that was not resumed yet; it may have been started with or
         * without "suspend". */
        void (*came)(void *data, const ReverseRuntime *runtime);
        /* A runtime has connected or disconnected. */
        void (*changed)(void *data);
        void *data;
} ReversePortCalls;

/* FD: listening socket that was handed over for PATH, or -1. CALLS is copied. NULL with ERROR set.
 */
ReversePort *reverse_port_new(const char *path, mode_t mode, int fd, const ReversePortCalls *calls,
                              GError **error);
void reverse_port_free(ReversePort *port);

/* Resumes the runtime of that process. False: it is not connected, or was resumed before. */
bool reverse_port_resume(ReversePort *port, pid_t pid, uint64_t start_ticks);
/* Number of connected runtimes. */
unsigned reverse_port_n_connected(const ReversePort *port);
/* True if a connection is waiting to be accepted. */
bool reverse_port_is_called(const ReversePort *port);
