/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Images: the precompiled assemblies of recorded processes, and where functions begin in them
 *
 * An assembly's file tells it, if it is the one that was mapped: by device and inode, and not
 * changed since. It is looked for by its path, in the root of the process, and among what that has
 * mapped, while it lives. Where it is not found nothing is told.
 */

#include "perf/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct ImageFile ImageFile;
typedef struct ImageMapping ImageMapping;

/* An address, and where perf found it. */
typedef struct ImagePlace {
        uint64_t address;
        const char *dso; /* borrowed; NULL: nowhere */
        uint64_t base;   /* where the begin of that file would be */
} ImagePlace;

/* What is known of an address. */
typedef struct ImageCode {
        uint64_t begin;        /* of the function that it is in; 0: not known */
        uint64_t mapped;       /* when, by perf's clock; 0: before the recording began */
        ImageMapping *missing; /* the one whose file is missing; NULL: none is */
} ImageCode;

typedef struct Images {
        ImageMapping **mappings; /* owned; by pid */
        size_t n_mappings, n_mappings_size;
        int32_t *living; /* owned: processes that were asked what they have mapped */
        size_t n_living, n_living_size;
        ImageFile *files; /* owned */
        size_t n_files, n_files_size;
        size_t n_bytes;   /* of their functions */
        bool asks_living; /* processes, for there is nobody else to ask */
} Images;

/*
 * Takes the mappings that the file FD tells, a line each; -1: there is none, so that processes
 * which still live are asked. False if that are not such lines or there is no memory. To be ended
 * in both cases.
 */
bool images_init(Images *images, int fd);
void images_deinit(Images *images);

/* What the process PID has at PLACE at TIME, by perf's clock. */
ImageCode images_find(Images *images, int32_t pid, uint64_t time, const ImagePlace *place);

/* For want of its file a frame has no name; MISSING may be NULL. */
void images_note_missing(ImageMapping *missing);
/* Says which files were missing, and why, in one line to stderr; nothing if none was. */
void images_report(const Images *images);
