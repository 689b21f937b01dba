/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Output path: where a file that we write really is, without being led there by somebody else
 *
 * In a directory where everybody may make files, but remove only their own (sticky, and writable
 * for a group or for all), a link is followed only if it belongs to us or to the directory's owner,
 * and a file that is there is replaced or written to only if it does. That is what the kernel does
 * with fs.protected_symlinks, protected_regular and protected_fifos. We do it ourselves, because we
 * resolve links, whatever the kernel is set to. The path is walked by descriptors, so that nobody
 * can exchange a part of it meanwhile.
 */

#include <glib.h>
#include <stdbool.h>
#include <sys/stat.h>

typedef struct OutputPath {
        int directory; /* descriptor (O_PATH) of the directory that has the file; -1: none */
        char *name;    /* owned: of the file there, after all links; NULL: none */
        bool is_there; /* the file exists: STAT is set */
        struct stat stat;
} OutputPath;

#define OUTPUT_PATH_INIT ((OutputPath){.directory = -1})

/* 0, or a negative errno value: -EACCES also for a link or a file of somebody else. */
int output_path_find(OutputPath *ret_path, const char *path);
void output_path_clear(OutputPath *path);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(OutputPath, output_path_clear)

/*
 * Opens the file at PATH for writing, with open()'s FLAGS, which may have O_CREAT and O_TRUNC, and
 * MODE for a new file. A descriptor, or a negative errno value.
 */
int output_path_open(const char *path, int flags, mode_t mode);

/*
 * Why PATH cannot be written, after that failed with ERRNO_VALUE (positive): whose link or file is
 * in the way and what to do, or the error's own text. Owned by the caller. PATH may be NULL.
 */
char *output_path_error(const char *path, int errno_value);
