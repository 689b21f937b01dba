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

typedef struct PortWatch PortWatch;

/* NULL: it cannot be watched, and searches alone have to do. */
PortWatch *port_watch_new(void);
/* NULL is fine. */
void port_watch_free(PortWatch *watch);

/* Borrowed: readable when something was made in the directory. -1 of NULL. */
int port_watch_fd(const PortWatch *watch);
/*
 * Takes the events that wait. True if a port was made, or if events were lost. Appends to PIDS, an
 * array of pid_t, the numbers of those that made one, each in its own pid namespace.
 */
bool port_watch_take(PortWatch *watch, GArray *pids);
