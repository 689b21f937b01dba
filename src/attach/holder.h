/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Holder: keeps attachments for those who ask it to, on a control socket
 *
 * Root's may attach to every process, and does so for the owner of the process and for root.
 */

#include <glib.h>

typedef struct Holder Holder;

/* FD is a listening socket that was handed over, or -1. IDLE is called when nothing is held. */
Holder *holder_new(const char *directory, int fd, void (*idle)(void *data), void *data,
                   GError **error);
/* Stops all sessions; a later holder of the directory goes on with them. */
void holder_free(Holder *holder);
