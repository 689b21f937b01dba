/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Port watch: notices at once that a .NET runtime has started
 *
 * Before a runtime runs managed code, it makes the socket of its diagnostic port in the directory
 * for temporary files. The watch sees our own directory only: a search finds programs in other
 * mount namespaces, or with another $TMPDIR.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct PortWatch PortWatch;

/* NULL: watching is impossible, and searches must suffice. */
PortWatch *port_watch_new(void);
/* NULL is fine. */
void port_watch_free(PortWatch *watch);

/* ms: minimum interval between two calls that take events, however many files are made. */
#define PORT_WATCH_REST_MS 100

/* Borrowed: readable when a file was made in the directory. -1 if WATCH is NULL, and during the
 * rest after a take. */
int port_watch_fd(const PortWatch *watch);

/* A socket with the name of a port. */
typedef struct PortMade {
        pid_t pid; /* pid in the socket's name, in the pid namespace of its process */
        uid_t uid; /* owner of the socket */
} PortMade;

/*
 * Takes the waiting events, and appends new ports to MADE, an array of PortMade. False: events were
 * lost, or are unreadable.
 */
bool port_watch_take(PortWatch *watch, GArray *made);
