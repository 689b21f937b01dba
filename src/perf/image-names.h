/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Image names: the names that a precompiled assembly's own file has for its code
 *
 * They need no event of the runtime. They are read when they are first asked for: that takes some
 * milliseconds and some megabytes.
 */

#include "metadata/r2r-names.h"
#include "pdb/debug-directory.h"

typedef struct ImageNames {
        R2RNames *names;             /* owned; NULL: there are none, or they were not read yet */
        uint8_t guid[PDB_GUID_SIZE]; /* of its PDB; all 0: it has none */
        bool is_read;
} ImageNames;

/* Reads the file FD, which is the image. To be deinitialized in any case. */
void image_names_read(ImageNames *names, int fd);
void image_names_deinit(ImageNames *names);
