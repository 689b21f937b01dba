/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Reverse port: a socket that runtimes connect to by themselves (DOTNET_DiagnosticPorts)
 *
 * A runtime connects, announces itself and waits for one command; after that it connects again.
 * One that was started with "suspend" runs no managed code before it gets the command to resume
 * over such a connection: meanwhile a session is opened on its own port. The process is the one
 * that the kernel reports for the connection, whatever it announces.
 *
 * No runtime is kept from starting: what is not resumed within REVERSE_PORT_PATIENCE is resumed
 * then. Each is resumed once; a connection of a runtime that was is kept, and left alone.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* In ms: to open a session takes some ms, on a busy machine much longer. */
#define REVERSE_PORT_PATIENCE 10000

typedef struct ReversePort ReversePort;

/* The process that has connected. */
typedef struct ReverseRuntime {
        pid_t pid; /* in our own pid namespace */
        uint64_t start_ticks;
        uid_t uid;
} ReverseRuntime;

typedef struct ReversePortCalls {
        /* A runtime that was not resumed yet; it may have been started with or without "suspend".
         */
        void (*came)(void *data, const ReverseRuntime *runtime);
        /* One has connected or hung up. */
        void (*changed)(void *data);
        void *data;
} ReversePortCalls;

/* FD is a listening socket that was handed over for PATH, or -1. CALLS is copied. NULL with ERROR
 * set. */
ReversePort *reverse_port_new(const char *path, mode_t mode, int fd, const ReversePortCalls *calls,
                              GError **error);
void reverse_port_free(ReversePort *port);

/* Lets the runtime of that process begin. False: it is not connected, or was resumed before. */
bool reverse_port_resume(ReversePort *port, pid_t pid, uint64_t start_ticks);
/* Runtimes that are connected. */
unsigned reverse_port_n_connected(const ReversePort *port);
/* Somebody has connected, and was not accepted yet. */
bool reverse_port_is_called(const ReversePort *port);
