/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Guest port: a listening socket below the root directory of another process
 *
 * A runtime that inherited DOTNET_DiagnosticPorts with "suspend", and has another root directory or
 * another file system at that path, waits for ever for a socket that it cannot see. Directories
 * that are missing there are made, and removed at the end.
 */

#include "util/listener.h"

typedef struct GuestPort GuestPort;

/* Listens at PATH, an absolute path, as process PID of our own pid namespace sees it. NULL with
 * ERROR set. */
GuestPort *guest_port_new(pid_t pid, const char *path, mode_t mode, ListenerAccept accept,
                          void *data, GError **error);
/* Removes what was made, also if the process has ended. NULL is fine. */
void guest_port_free(GuestPort *port);

/* Borrowed. */
Listener *guest_port_listener(const GuestPort *port);
