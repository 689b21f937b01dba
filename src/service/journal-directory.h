/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Journal directory: where the files are, for one daemon alone
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct JournalDirectory {
        char *path; /* owned */
        int fd;
        int lock; /* held as long as it is open */
} JournalDirectory;

/* What a file is, by its name. */
typedef enum JournalState {
        JOURNAL_WHOLE,
        JOURNAL_PARTIAL, /* more came, and could not be written */
        JOURNAL_NEW,     /* not whole yet */
        JOURNAL_ASIDE,   /* was found damaged, and is kept for people */
        _JOURNAL_STATE_MAX,
} JournalState;

typedef struct JournalName {
        uint64_t number;
        JournalState state;
} JournalName;

/*
 * Makes the directory if it is missing, and locks it. PATH is copied. False with ERROR set: it
 * cannot be made, is another user's, others may write to it, or another daemon has it.
 */
bool journal_directory_open(JournalDirectory *directory, const char *path, GError **error);
void journal_directory_close(JournalDirectory *directory);

/* True if it is still there under some name. */
bool journal_directory_is_there(const JournalDirectory *directory);

/* JournalNames in order of number; the caller's. */
GArray *journal_directory_list(const JournalDirectory *directory);

/* These return a descriptor or 0, or -errno. To write: a new file; to read: one of our own. */
int journal_directory_create(const JournalDirectory *directory, JournalName name);
int journal_directory_read(const JournalDirectory *directory, JournalName name);
int journal_directory_append(const JournalDirectory *directory, JournalName name);
int journal_directory_rename(const JournalDirectory *directory, JournalName from,
                             JournalState state);
int journal_directory_remove(const JournalDirectory *directory, JournalName name);
/* For messages; the caller's. */
char *journal_directory_path(const JournalDirectory *directory, JournalName name);
