/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Listener: a listening Unix socket, and the callers that come to it
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct Listener Listener;

/* FD is the callee's from here on; it is non-blocking. */
typedef void (*ListenerAccept)(void *data, int fd);

/*
 * Listens at PATH with MODE; a socket file that nobody listens on is replaced, its directory made.
 * With FD >= 0 on that socket instead. NULL with ERROR set.
 */
Listener *listener_new(const char *path, mode_t mode, int fd, ListenerAccept accept, void *data,
                       GError **error);
/*
 * Gives the socket file to a group, if there is that group and the listener made the file as root.
 * Else it stays with its maker's group.
 */
void listener_give_to_group(Listener *listener, const char *group);
/* Removes the socket file if the listener made it. */
void listener_free(Listener *listener);

/* Off: callers wait in the backlog. */
void listener_set_accepting(Listener *listener, bool accepting);
