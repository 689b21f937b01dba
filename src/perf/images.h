/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Images: the precompiled assemblies of recorded processes, where functions begin in them, and
 * which methods they are of
 *
 * The answer is in an assembly's file, or in that of a single-file program, if that is the file
 * that was mapped: by device and inode, and not changed since. It is looked for at its path, in the
 * root of the process, and, while the process lives, among its mappings. Without the file nothing
 * is known.
 */

#include "lines/image-names.h"
#include "perf/image-mappings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ImageFile ImageFile;

/* An address, and the file that perf found it in. */
typedef struct ImageAddress {
        uint64_t address;
        const char *dso; /* borrowed; NULL: in no file; or IMAGE_IN_ANY */
        uint64_t base;   /* the address at which the file's begin would be mapped */
} ImageAddress;

/* perf was not asked: whatever file was mapped there, by the mappings that were given. */
extern const char IMAGE_IN_ANY[];

/* What the file shows about an address. */
typedef struct ImageCode {
        uint64_t begin;              /* of the function with the address; 0: not known */
        uint32_t rva;                /* of the same */
        const ImageMapping *mapping; /* borrowed: with a begin */
        uint64_t mapped;  /* time of the mapping, by perf's clock; 0: before the recording began */
        const char *file; /* borrowed: the path of the file; NULL: not known, or in a single file */
        ImageMapping *missing; /* the mapping whose file is missing; NULL: the file is there */
} ImageCode;

typedef struct Images {
        ImageMappings mappings;
        ImageFile *files; /* owned */
        size_t n_files, n_files_size;
        HashIndex by_inode;   /* of the files */
        ImageSources sources; /* without directories */
        size_t n_bytes;       /* of the files' functions and names */
        bool asks_living;     /* no mappings were given: live processes are asked */
} Images;

/*
 * Reads mappings from the file FD, a line each; -1: there are none, so live processes are asked.
 * False if a line is malformed or there is no memory; to be deinitialized in both cases.
 */
bool images_init(Images *images, int fd);
void images_deinit(Images *images);

/* The code of process PID at the address, at TIME by perf's clock. */
ImageCode images_find(Images *images, int32_t pid, uint64_t time, const ImageAddress *address);

/* The method that the code is of, by the tables of the file. */
typedef struct ImageName {
        ImageMethod method; /* texts are valid until the next call of images_name() */
        uint64_t start;     /* of the method */
} ImageName;

/* False: the file has no name for it, or the code is not known. */
bool images_name(Images *images, const ImageCode *code, ImageName *ret);

/* The process for which most was not looked for, because its files cost too much; 0: none. */
int32_t images_costly_process(const Images *images);

/* Notes that a frame has no name because the file is missing; MISSING may be NULL. */
void images_note_missing(ImageMapping *missing);
/* Prints which files were missing, and why, in one line on stderr; nothing if none was. */
void images_report(const Images *images);
