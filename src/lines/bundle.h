/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bundle: the assemblies in the file of a single-file program (dotnet/designs:
 * accepted/2020/single-file/bundler.md)
 *
 * The runtime reports such an assembly by a path beside the program where there is no file.
 */

#include "lines/symbol-dirs.h"

#include <sys/types.h>

/*
 * Calls FN for each assembly that is called as the module is, in the program that process PID runs;
 * with PID 0, in the program that is called as the module is and beside it, below ROOT. Until FN is
 * true; then that is returned. A compressed assembly is unpacked into memory for the call, 256 MiB
 * at most.
 */
bool bundle_find_image(pid_t pid, int root, const char *module_path, SymbolImageFn fn, void *data);

/* The same, in the file HOST. */
bool bundle_find_image_in(int host, const char *module_path, SymbolImageFn fn, void *data);

#define BUNDLE_MAX_NAME 256

/* A file in a bundle. */
typedef struct BundleFile {
        uint64_t begin, size;       /* bytes of the bundle */
        char name[BUNDLE_MAX_NAME]; /* without a directory */
} BundleFile;

/*
 * The file in the bundle HOST that has the byte at OFFSET. False: there is none, or it is
 * compressed: then no address of a process is in the bundle.
 */
bool bundle_find_at(int host, uint64_t offset, BundleFile *ret);

/* Is a file in HOST compressed? False: none is, or HOST is not a bundle. */
bool bundle_is_packed(int host);
