/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Atomic file: an output file that appears under its name when it is complete
 *
 * Until then, and after a failure, the earlier file stays. A symbolic link is followed: it stays a
 * link, and its target is replaced, or made. The new file gets the permissions of the replaced one.
 * A path that is not a regular file (a pipe, /dev/null) is written directly. Links and files of
 * other users, in directories where everybody may make files, are refused: see output-path.h.
 *
 * Errors are negative errno values.
 */

#include "util/output-path.h"

#include <glib.h>
#include <stdbool.h>

typedef struct AtomicFile {
        int fd;            /* to write to; -1: not open */
        OutputPath target; /* without a name: stdout */
        char *temporary; /* owned: a name beside TARGET, which takes it in the end; NULL: FD is the
                            target itself */
} AtomicFile;

#define ATOMIC_FILE_INIT ((AtomicFile){.fd = -1, .target = {.directory = -1}})

/* Opens PATH for writing; NULL or "-" is stdout. */
int atomic_file_open(AtomicFile *ret_file, const char *path);

/* Opens the file NAME of DIRECTORY (a descriptor, borrowed) for writing. A file or link with that
 * name is replaced in the end. */
int atomic_file_open_in(AtomicFile *ret_file, int directory, const char *name);

/* Writes all N bytes, or fewer after an error. */
int atomic_file_write(AtomicFile *file, const void *bytes, size_t n);

/* Closes the complete file, and makes it appear. With SYNC it is written to the disk before that.
 * The file must still be cleared. */
int atomic_file_commit(AtomicFile *file, bool sync);

/* Removes a file that was not committed. */
void atomic_file_clear(AtomicFile *file);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AtomicFile, atomic_file_clear)
