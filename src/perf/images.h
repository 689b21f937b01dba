/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Images: the precompiled assemblies of recorded processes: the begins of functions, and their
 * methods
 *
 * The tables are in the assembly's file, or in the file of a single-file program. Images reads a
 * file only if it is the mapped one: the device and inode are the same, and it has not changed
 * since. The file is opened at its path, at its path in the root of the process, or by the mappings
 * of a live process. Without the file, Images knows nothing about its code.
 */

#include "clrsym/clrsym.h"
#include "lines/image-names.h"
#include "perf/image-mappings.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ImageFile ImageFile;

/* An address, and the file in which perf found it. */
typedef struct ImageAddress {
        uint64_t address;
        const char *dso; /* borrowed; NULL: in no file; or IMAGE_IN_ANY */
        uint64_t base;   /* address of the file's first byte, if it were mapped */
} ImageAddress;

/* perf did not search: the file follows from the given mappings. */
extern const char IMAGE_IN_ANY[];

/* The function at an address, by the file. */
typedef struct ImageCode {
        uint64_t begin;              /* address of the function's begin; 0: not known */
        uint32_t rva;                /* of the function, in the image */
        const ImageMapping *mapping; /* borrowed; valid with a begin */
        uint64_t mapped;  /* time of the mapping, by perf's clock; 0: before the recording began */
        const char *file; /* borrowed: its path; NULL: not known, or a single-file program */
        ImageMapping *missing; /* the mapping whose file is missing; NULL: none is */
} ImageCode;

typedef struct Images {
        ImageMappings mappings;
        ImageFile *files; /* owned */
        size_t n_files, n_files_size;
        HashIndex by_inode;   /* of the files */
        ImageSources sources; /* used without directories */
        size_t n_bytes;       /* memory of the files' functions and names */
        bool asks_living;     /* mappings were not given, but come from live processes */
} Images;

/*
 * Reads mappings from the file FD, one on each line; -1: none are given, and live processes are
 * read instead. False: a line is malformed, or no memory. Deinitialize IMAGES in both cases.
 */
bool images_init(Images *images, int fd);
void images_deinit(Images *images);
/* Makes IMAGES read the mappings of live processes again. Files, and the limits of work, stay. */
void images_forget_mappings(Images *images);

/* The function of process PID at the address, at TIME of perf's clock. */
ImageCode images_find(Images *images, int32_t pid, uint64_t time, const ImageAddress *address);

/* A method, by the tables of its file. */
typedef struct ImageName {
        ImageMethod method; /* texts are valid until the next call of images_name() */
        uint64_t start;     /* address of the method */
} ImageName;

/* False: the file has no name for the function, or the function is not known. */
bool images_name(Images *images, const ImageCode *code, ImageName *ret);
/* The method as a body. Borrows the texts of NAME. */
clrsym_body images_body(const ImageName *name);

/* A process whose files exceeded the limits of work or mappings; 0: none. */
int32_t images_costly_process(const Images *images);

/* Notes that a frame has no name because the file is missing. MISSING: or NULL. */
void images_note_missing(ImageMapping *missing);
/* Prints the missing files and the reasons in one line on stderr; nothing if no file is missing. */
void images_report(const Images *images);
