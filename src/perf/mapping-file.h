/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mapping file: the file that was mapped, opened if it is still there
 *
 * The recorded process chose it, and can put another one in its place at any moment. See
 * util/rootfs.h for how it is opened.
 */

#include "perf/mapping.h"

#include <sys/stat.h>

/* Where it is looked for, in this order. */
typedef enum MappingSource {
        MAPPING_HERE,      /* at its path, as we see it */
        MAPPING_IN_ROOT,   /* in the process's root: it may be in another mount namespace */
        MAPPING_IN_MEMORY, /* in the process's map_files, where it is even after its removal */
        _MAPPING_SOURCE_MAX,
} MappingSource;

/* Why a file cannot be opened, or read. Static. */
const char *mapping_file_reason(int error);

/*
 * Opens the file of MAPPING. It is a regular one, and has the device, inode and generation of the
 * mapping, if that has an inode; and it was not changed after `since`. NULL, and the caller closes
 * RET_FD; or why not (static).
 */
const char *mapping_file_open(const Mapping *mapping, MappingSource source, int *ret_fd,
                              struct stat *ret_status);
