/* SPDX-License-Identifier: MIT */
#pragma once

/* Image bytes: a file, or part of a file, that may be an image */

#include "metadata/pe-file.h"

typedef struct ImageBytes {
        int fd;         /* borrowed */
        uint64_t begin; /* offset of the image in the file; INT64_MAX or less */
        uint64_t *work; /* borrowed: counter of read bytes; NULL: not counted */
} ImageBytes;

/* Like pe_file_read(). */
static inline int image_bytes_read(const ImageBytes *image, PeFile *ret, const char **ret_reason)
{
        int r = pe_file_read(ret, image->fd, image->begin, ret_reason);

        ret->work = image->work;
        return r;
}

/* True ends the search: IMAGE is the right one. */
typedef bool (*ImageFn)(const ImageBytes *image, void *data);
