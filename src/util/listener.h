/* SPDX-License-Identifier: MIT */
#pragma once

/* Listener: a listening Unix socket, and the connections that come to it */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct Listener Listener;

/* The callee takes over FD, which is non-blocking. */
typedef void (*ListenerAccept)(void *data, int fd);

/*
 * Listens at PATH with MODE; a socket file that nobody listens on is replaced, its directory made.
 * Root's file gets GROUP, if that is not NULL and the group exists. Once the file has its name, a
 * connect succeeds. With FD >= 0, listens on that socket instead. NULL with ERROR set.
 */
Listener *listener_new(const char *path, mode_t mode, const char *group, int fd,
                       ListenerAccept accept, void *data, GError **error);
/* Removes the socket file if the listener made it. */
void listener_free(Listener *listener);

/* False: connections wait in the backlog. */
void listener_set_accepting(Listener *listener, bool accepting);
/* A connection waits, and was not accepted yet. */
bool listener_is_called(const Listener *listener);
