/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Library: does the dynamic linker find a shared library?
 */

#include "doctor/elf-file.h"

#include <stdbool.h>

/*
 * Looks for NAME as a program would whose root directory is ROOT: in PATHS (as of LD_LIBRARY_PATH,
 * or NULL), in the linker's cache, and in its usual directories. One that is not of
 * KIND is passed by, as the linker does.
 */
bool library_is_found(int root, const char *name, const char *paths, const ElfKind *kind);
