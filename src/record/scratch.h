/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Scratch: directories that are always removed
 *
 * A process of its own, the keeper, waits until this program and its helpers have ended, in any
 * way, and then removes the directories. All of them keep a descriptor: while one of them lives,
 * the keeper waits.
 *
 * $TMPDIR is for large files. Sockets can need another place: their paths must be short, some file
 * systems have no sockets, and a runtime splits a path in its environment at a comma or a
 * semicolon.
 */

#include <glib.h>

typedef struct Scratch {
        char *path;    /* owned, mode 0700 */
        char *sockets; /* owned, mode 0711: plain and short, on a file system with sockets */
        int life_fd;   /* kept by the helpers; closed on exec unless they keep it */
        pid_t keeper;
} Scratch;

/* NULL with ERROR set. Both are in $TMPDIR if it is fit for them. */
Scratch *scratch_new(GError **error);
/* Waits until the directories are removed; the helpers must have ended. NULL is fine. */
void scratch_free(Scratch *scratch);

/* A path in the private directory; the caller frees it. */
char *scratch_file(const Scratch *scratch, const char *name);
/* A path in the directory of sockets, through which every user can pass; the caller frees it. */
char *scratch_socket(const Scratch *scratch, const char *name);
