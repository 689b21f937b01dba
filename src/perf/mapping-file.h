/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Mapping file: opens a mapped file, if it is still there
 *
 * The recorded process chose the path, and can replace the file at any moment. util/rootfs.h
 * describes the safe way to open it.
 */

#include "perf/mapping.h"

#include <sys/stat.h>

/* Where the file is opened, in this order. */
typedef enum MappingSource {
        MAPPING_HERE,      /* at its path, in our root */
        MAPPING_IN_ROOT,   /* in the process's root, which may be in another mount namespace */
        MAPPING_IN_MEMORY, /* in the process's map_files, also after its removal */
        _MAPPING_SOURCE_MAX,
} MappingSource;

/* The text for an errno of opening or reading a file. Static. */
const char *mapping_file_reason(int error);

/*
 * Opens the file of MAPPING. It is a regular file that has not changed after `since`; if the
 * mapping has an inode, the device, inode and generation are equal. Returns NULL, and the caller
 * closes RET_FD; or the reason (static).
 */
const char *mapping_file_open(const Mapping *mapping, MappingSource source, int *ret_fd,
                              struct stat *ret_status);
