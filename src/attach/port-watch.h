/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Port watch: notices at once that a .NET runtime has started
 *
 * A runtime makes the socket of its diagnostic port before it runs managed code, in the directory
 * for temporary files. Only our own is watched: programs in other mount namespaces, or with another
 * $TMPDIR, are found by a search of the processes.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct PortWatch PortWatch;

/* NULL: it cannot be watched, and searches alone have to do. */
PortWatch *port_watch_new(void);
/* NULL is fine. */
void port_watch_free(PortWatch *watch);

/* In ms. However many files are made, events are taken once in that time. */
#define PORT_WATCH_REST_MS 100

/* Borrowed: readable when something was made in the directory. -1 of NULL, and within the rest
 * after events were taken. */
int port_watch_fd(const PortWatch *watch);

/* A socket with the name of a port. */
typedef struct PortMade {
        pid_t pid; /* of the process that it is named for, in that one's pid namespace */
        uid_t uid; /* the owner */
} PortMade;

/*
 * Takes the events that wait. Appends to MADE, an array of PortMade, the ports that were made.
 * False: events were lost, or cannot be taken.
 */
bool port_watch_take(PortWatch *watch, GArray *made);
