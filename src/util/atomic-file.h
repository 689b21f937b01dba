/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Atomic file: an output file that appears under its name when it is whole
 *
 * Until then, and after a failure, what was there before stays. A symbolic link is followed: it
 * stays a link, and the file that it names is replaced, or made. A file that is replaced hands its
 * permissions on. What is not a regular file (a pipe, /dev/null) is written to directly. Links and
 * files of others, in directories where everybody may make files, are refused: see output-path.h.
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

/*
 * Opens the file NAME of DIRECTORY (a descriptor, borrowed) for writing. Whatever has that name in
 * the end, a link, too, is replaced.
 */
int atomic_file_open_in(AtomicFile *ret_file, int directory, const char *name);

/* Writes all N bytes; less after an error. */
int atomic_file_write(AtomicFile *file, const void *bytes, size_t n);

/*
 * Closes the file, which is whole, and makes it appear. With SYNC it is on the disk before that.
 * The file must still be cleared.
 */
int atomic_file_commit(AtomicFile *file, bool sync);

/* Removes what was not committed. */
void atomic_file_clear(AtomicFile *file);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(AtomicFile, atomic_file_clear)
