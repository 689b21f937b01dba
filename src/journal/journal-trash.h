/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Journal trash: the contents of removed files, freed piece by piece
 *
 * The kernel takes some 15 ms to free 64 MiB of a file, during which the daemon answers nobody.
 * Names are removed at once. The rest is freed when the daemon ends.
 */

#include "journal/journal-directory.h"

typedef struct JournalTrash {
        GArray *fds;  /* of int, owned: files without names */
        guint source; /* of the main context, frees a piece; 0: the trash is empty */
} JournalTrash;

void journal_trash_init(JournalTrash *trash);
/* Closes the files. */
void journal_trash_deinit(JournalTrash *trash);

/* Like journal_directory_remove(). */
int journal_trash_remove(JournalTrash *trash, const JournalDirectory *directory, JournalName name);
