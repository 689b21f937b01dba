/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Holder: keeps attachments on behalf of clients, which ask for them at a control socket
 *
 * A holder that runs as root may attach to every process, but does so only for the owner of the
 * process and for root. The daemon's user, if one is given, may also order rundowns of what is
 * attached.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/types.h>

typedef struct Holder Holder;

/* The sockets in its directory, by these names. */
typedef enum HolderSocket {
        HOLDER_CONTROL,
        HOLDER_PORT, /* for runtimes: reverse-port.h */
        _HOLDER_SOCKET_MAX,
} HolderSocket;

extern const char *const HOLDER_SOCKETS[_HOLDER_SOCKET_MAX];

/*
 * FDS are listening sockets that were handed over, or -1. PORT is the path of the socket for
 * runtimes; NULL: it is in DIRECTORY. INGEST is the path of the ingest socket of
 * its own daemon; IS_INGEST_SET: also of what an earlier holder attached for its own. DAEMON_UID is
 * the daemon's user; the holder's own if there is none. IDLE is called when nothing is held and no
 * gap is to be reported to a daemon that was there. NULL with ERROR set.
 */
Holder *holder_new(const char *directory, const char *port, const char *ingest, bool is_ingest_set,
                   uid_t daemon_uid, const int fds[_HOLDER_SOCKET_MAX], void (*idle)(void *data),
                   void *data, GError **error);
/* Stops all sessions; a later holder of the directory opens them again. */
void holder_free(Holder *holder);
