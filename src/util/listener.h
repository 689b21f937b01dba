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
 * Root's file is GROUP's, if that is not NULL and there is that group. Whoever sees the file can
 * connect. With FD >= 0 on that socket instead. NULL with ERROR set.
 */
Listener *listener_new(const char *path, mode_t mode, const char *group, int fd,
                       ListenerAccept accept, void *data, GError **error);
/* Removes the socket file if the listener made it. */
void listener_free(Listener *listener);

/* Off: callers wait in the backlog. */
void listener_set_accepting(Listener *listener, bool accepting);
/* Somebody has called, and was not accepted yet. */
bool listener_is_called(const Listener *listener);
