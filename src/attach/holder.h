/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Holder: keeps attachments for clients, which send requests to a control socket
 *
 * A holder that runs as root can attach to every process, but does so only for the owner of the
 * process and for root. The daemon's user, if one is given, may also order rundowns of attached
 * processes.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct Holder Holder;

/* Names of the sockets in the holder's directory. */
typedef enum HolderSocket {
        HOLDER_CONTROL,
        HOLDER_PORT, /* for runtimes: reverse-port.h */
        _HOLDER_SOCKET_MAX,
} HolderSocket;

extern const char *const HOLDER_SOCKETS[_HOLDER_SOCKET_MAX];

/*
 * FDS: listening sockets that were handed over, or -1. PORT: path of the socket for runtimes; NULL:
 * in DIRECTORY. INGEST: path of the ingest socket of its own daemon; IS_INGEST_SET: it also gets
 * the attachments of an earlier holder's own daemon. DAEMON_UID: the daemon's user, or the holder's
 * own. IDLE is called when nothing is held and no gap is pending for a daemon that answered before.
 * NULL with ERROR set.
 */
Holder *holder_new(const char *directory, const char *port, const char *ingest, bool is_ingest_set,
                   uid_t daemon_uid, const int fds[_HOLDER_SOCKET_MAX], void (*idle)(void *data),
                   void *data, GError **error);
/* Stops all sessions; a later holder of the directory opens them again. */
void holder_free(Holder *holder);
