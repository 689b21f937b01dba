/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Journal directory: the directory of a journal's files, locked for one daemon
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct JournalDirectory {
        char *path; /* owned */
        int fd;
        int lock; /* held while it is open */
} JournalDirectory;

/* The state of a file, part of its name. */
typedef enum JournalState {
        JOURNAL_WHOLE,
        JOURNAL_PARTIAL, /* a later entry could not be written */
        JOURNAL_NEW,     /* incomplete */
        JOURNAL_ASIDE,   /* damaged, kept for people to inspect */
        _JOURNAL_STATE_MAX,
} JournalState;

typedef struct JournalName {
        uint64_t number;
        JournalState state;
} JournalName;

/*
 * Makes the directory if it is missing, and locks it. PATH is copied. False with ERROR set: it
 * cannot be made, belongs to another user, is writable by others, or another daemon uses it.
 */
bool journal_directory_open(JournalDirectory *directory, const char *path, GError **error);
void journal_directory_close(JournalDirectory *directory);

/* True if the directory and the lock still exist, even under other names. */
bool journal_directory_is_there(const JournalDirectory *directory);

/* Sets the error "cannot keep the state in PATH: WHAT". Returns false. */
bool journal_directory_error(GError **error, const char *path, const char *what);

/*
 * JournalNames in order of number. The caller owns the result. NULL with errno set: the directory
 * cannot be read.
 */
GArray *journal_directory_list(const JournalDirectory *directory);

/* These return a descriptor or 0, or -errno. Only files of the process's own user are opened. */
int journal_directory_create(const JournalDirectory *directory, JournalName name);
int journal_directory_read(const JournalDirectory *directory, JournalName name);
int journal_directory_append(const JournalDirectory *directory, JournalName name);
int journal_directory_rename(const JournalDirectory *directory, JournalName from,
                             JournalState state);
int journal_directory_remove(const JournalDirectory *directory, JournalName name);
/* For messages. The caller owns the result. */
char *journal_directory_path(const JournalDirectory *directory, JournalName name);
