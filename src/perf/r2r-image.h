/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * R2RImage: where the functions of a precompiled .NET assembly begin and end
 *
 * A ReadyToRun image is a PE file. Its table of runtime functions has each piece of code that can
 * be unwound by itself: the body of a method, and those of its handlers that are functions of their
 * own. Nothing in a file is believed before it was compared with the rest: one that contradicts
 * itself has no functions at all. Only images for x86-64 are read; others' tables have no ends.
 *
 * Plain C: it is read by a module in perf.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* RVAs: bytes from where the image is mapped to. */
typedef struct R2RFunction {
        uint32_t begin, end;
} R2RFunction;

/* What lies in the file at OFFSET is mapped to RVA; those with code only. */
typedef struct R2RSection {
        uint32_t rva, offset, size; /* bytes */
} R2RSection;

typedef struct R2RImage {
        R2RFunction *functions; /* owned; sorted, none overlaps another */
        size_t n_functions;
        R2RSection *sections; /* owned */
        size_t n_sections;
} R2RImage;

/*
 * Reads the image in the file FD from its begin, with pread(). 0; -ENOMEM; -EBADMSG if that is no
 * image whose functions can be told; or what the kernel said. IMAGE is empty then, and RET_REASON
 * says why, in words that are static. What it takes of memory is less than the file's size, and
 * than 64 MiB.
 */
int r2r_image_read(R2RImage *image, int fd, const char **ret_reason);
void r2r_image_deinit(R2RImage *image);

/* The function that holds what is at OFFSET of the file, and how far behind its begin; or NULL. */
const R2RFunction *r2r_image_find(const R2RImage *image, uint64_t offset, uint32_t *ret_distance);
