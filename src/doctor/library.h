/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Library: does the dynamic linker find a shared library?
 */

#include "util/elf-file.h"

#include <stdbool.h>

/*
 * Looks for NAME as the dynamic linker of a program with the root directory ROOT does: in PATHS
 * (the value of LD_LIBRARY_PATH, or NULL), in the linker's cache, and in its usual directories. A
 * library that is not of KIND is skipped.
 */
bool library_is_found(int root, const char *name, const char *paths, const ElfFileKind *kind);

/*
 * Searches BYTES, the dynamic linker's cache (/etc/ld.so.cache), for NAME: the path of its entry I,
 * from 0, or NULL if there are not so many. Borrowed.
 */
const char *library_cache_path(const void *bytes, size_t n, const char *name, size_t i);
