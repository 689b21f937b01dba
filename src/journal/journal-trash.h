/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Journal trash: what removed files contained, which goes bit by bit
 *
 * The kernel takes some 15 ms to free 64 MiB of a file, in which the daemon answers nobody. Names
 * go at once. What is left when the daemon ends goes with it.
 */

#include "journal/journal-directory.h"

typedef struct JournalTrash {
        GArray *fds;  /* of int, owned: files without names */
        guint source; /* of the main context, frees a bit; 0: there is nothing to do */
} JournalTrash;

void journal_trash_init(JournalTrash *trash);
/* Closes the files. */
void journal_trash_deinit(JournalTrash *trash);

/* As journal_directory_remove(). */
int journal_trash_remove(JournalTrash *trash, const JournalDirectory *directory, JournalName name);
