/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Scratch: a private directory that is removed in any case
 *
 * A process of its own, the keeper, waits until this program and its helpers have ended, however
 * they did, and removes the directory then. They all keep a descriptor: while one of them lives,
 * the keeper waits.
 */

#include <glib.h>

typedef struct Scratch {
        char *path;  /* owned, mode 0700 */
        int life_fd; /* kept by the helpers; closed on exec unless they say so */
        pid_t keeper;
} Scratch;

/* NULL with ERROR set. It is in $TMPDIR, unless a socket's path in there would be too long. */
Scratch *scratch_new(GError **error);
/* Waits until the directory is gone: the helpers must have ended. NULL is fine. */
void scratch_free(Scratch *scratch);

/* A path in it; the caller frees it. */
char *scratch_file(const Scratch *scratch, const char *name);
