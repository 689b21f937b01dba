/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Output path: the real place of a file to write, safe from links of other users
 *
 * In a directory where everybody may make files, but remove only their own (sticky, and writable
 * for a group or for all), a link is followed, and an existing file is written or replaced, only if
 * it belongs to us or to the directory's owner. The kernel does so with fs.protected_symlinks,
 * protected_regular and protected_fifos. We do it for every setting of the kernel, because we
 * resolve links ourselves. The path is walked by descriptors, so that nobody can exchange a part of
 * it meanwhile.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

typedef struct OutputPath {
        int directory; /* descriptor (O_PATH) of the directory that has the file; -1: none */
        char *name;    /* owned: its name there, after all links; NULL: none */
        bool is_there; /* the file exists: STAT is set */
        struct stat stat;
} OutputPath;

#define OUTPUT_PATH_INIT ((OutputPath){.directory = -1})

/* 0, or a negative errno value: -EACCES also for a link or a file of another user. */
int output_path_find(OutputPath *ret_path, const char *path);
void output_path_clear(OutputPath *path);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OutputPath, output_path_clear)

/*
 * Opens the file at PATH for writing, with open()'s FLAGS, which may have O_CREAT and O_TRUNC, and
 * MODE for a new file. A descriptor, or a negative errno value.
 */
int output_path_open(const char *path, int flags, mode_t mode);

/*
 * Why PATH cannot be written, after a failure with ERRNO_VALUE (positive): the owner of the link or
 * file in the way and what to do, or the error's own text. Owned by the caller. PATH may be NULL.
 */
char *output_path_error(const char *path, int errno_value);
