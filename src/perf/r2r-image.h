/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2R image: where the functions of a precompiled .NET assembly begin and end
 *
 * Images of all versions are read, also those whose names r2r-code.h does not read. Nothing in a
 * file is trusted before it was compared with the rest: one that contradicts itself has no
 * functions at all.
 *
 * Plain C, because a module in perf reads it.
 */

#include "lines/image-bytes.h"
#include "metadata/r2r-functions.h"
#include "metadata/r2r-funclets.h"

typedef struct R2RImage {
        uint64_t begin;         /* in the file */
        R2RFunctions functions; /* owned */
        PeRange exceptions;     /* the table of funclets; of size 0: there is none */
        PeSection *sections;    /* owned: those with code */
        size_t n_sections;
} R2RImage;

/*
 * Reads the image, with pread(). Returns 0; -ENOMEM; -EBADMSG if the
 * file is not an image with readable functions; or pread()'s error. On failure IMAGE is empty, and
 * RET_REASON is the reason (static). The image takes less memory than the file's size, and less
 * than 64 MiB.
 */
int r2r_image_read(R2RImage *image, const ImageBytes *bytes, const char **ret_reason);
void r2r_image_deinit(R2RImage *image);

/* The function with the byte at OFFSET of the file, or NULL; RET_DISTANCE is from its begin. */
const R2RFunction *r2r_image_find(const R2RImage *image, uint64_t offset, uint32_t *ret_distance);
/* Which functions are funclets, of the image that was read from BYTES; as r2r_funclets_read(). */
int r2r_image_read_funclets(const R2RImage *image, const ImageBytes *bytes, R2RFunclets *ret);
