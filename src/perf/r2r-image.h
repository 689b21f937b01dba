/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2R image: the begins and ends of the functions of a precompiled .NET assembly
 *
 * All versions of images are read, also those without names from r2r-code.h. The reader compares
 * all parts of the untrusted file with each other: if they contradict, the image has no functions.
 *
 * Plain C, because a module in perf reads it.
 */

#include "lines/image-bytes.h"
#include "metadata/r2r-functions.h"
#include "metadata/r2r-funclets.h"

typedef struct R2RImage {
        uint64_t begin;         /* bytes, in the file */
        R2RFunctions functions; /* owned */
        PeRange exceptions;     /* the table of exceptions, which marks funclets; size 0: none */
        PeSection *sections;    /* owned: sections with code */
        size_t n_sections;
} R2RImage;

/*
 * Reads the image, with pread(). Returns 0; -ENOMEM; -EBADMSG if the file is not an image with
 * readable functions; or pread()'s error. On failure IMAGE is empty, and RET_REASON is the reason
 * (static). The image takes less memory than the file's size, and less than 64 MiB.
 */
int r2r_image_read(R2RImage *image, const ImageBytes *bytes, const char **ret_reason);
void r2r_image_deinit(R2RImage *image);

/*
 * The function with the byte at OFFSET of the file, or NULL. RET_DISTANCE: bytes from the
 * function's begin.
 */
const R2RFunction *r2r_image_find(const R2RImage *image, uint64_t offset, uint32_t *ret_distance);
/* Finds the funclets of the image that was read from BYTES; returns as r2r_funclets_read(). */
int r2r_image_read_funclets(const R2RImage *image, const ImageBytes *bytes, R2RFunclets *ret);
