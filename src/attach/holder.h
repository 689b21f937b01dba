/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Holder: keeps attachments for those who ask it to, on a control socket
 *
 * Root's may attach to every process, and does so for the owner of the process and for root. The
 * daemon's user, if there is one, may besides have listed again what is attached.
 */

#include <glib.h>
#include <sys/types.h>

typedef struct Holder Holder;

/*
 * FD is a listening socket that was handed over, or -1. INGEST is the path of the daemon's socket
 * for feeders: it is told when a target was not held. DAEMON_UID is the daemon's user; its own,
 * with which it may do nothing more, if there is none. IDLE is called when nothing is held, and
 * nothing is to be told to a daemon that was there.
 */
Holder *holder_new(const char *directory, const char *ingest, uid_t daemon_uid, int fd,
                   void (*idle)(void *data), void *data, GError **error);
/* Stops all sessions; a later holder of the directory goes on with them. */
void holder_free(Holder *holder);
