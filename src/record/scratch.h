/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Scratch: directories that are removed in any case
 *
 * A process of its own, the keeper, waits until this program and its helpers have ended, however
 * they did, and removes the directories then. They all keep a descriptor: while one of them lives,
 * the keeper waits.
 *
 * $TMPDIR is for what is large. Sockets may need another place: their paths are short, some file
 * systems have none, and a runtime splits a path of its environment at a comma or a semicolon.
 */

#include <glib.h>

typedef struct Scratch {
        char *path;    /* owned, mode 0700 */
        char *sockets; /* owned, mode 0711: plain and short, and takes sockets */
        int life_fd;   /* kept by the helpers; closed on exec unless they say so */
        pid_t keeper;
} Scratch;

/* NULL with ERROR set. Both are in $TMPDIR if that is fit for them. */
Scratch *scratch_new(GError **error);
/* Waits until the directories are gone: the helpers must have ended. NULL is fine. */
void scratch_free(Scratch *scratch);

/* A path in the private directory; the caller frees it. */
char *scratch_file(const Scratch *scratch, const char *name);
/* A path in the directory of sockets, which every user can pass; the caller frees it. */
char *scratch_socket(const Scratch *scratch, const char *name);
