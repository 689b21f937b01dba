/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bundle: the assemblies in the file of a single-file program (dotnet/designs:
 * accepted/2020/single-file/bundler.md)
 *
 * The runtime reports such an assembly by a path beside the program where there is no file.
 *
 * To find a bundle in a program takes up to 64 MiB that are read; the table of its files has at
 * most 4 MiB, and a compressed assembly is unpacked up to 256 MiB. So Bundles remembers which files
 * are bundles, and which are not, and keeps the assembly that was unpacked last.
 */

#include "lines/image-bytes.h"

#include <sys/stat.h>
#include <sys/types.h>

/* A file that was looked into. It is the same as long as its inode has not changed. */
typedef struct BundlePlace {
        dev_t device;
        ino_t inode;
        off_t size;
        struct timespec changed;
        uint64_t header; /* where the bundle's header is; 0: the file is not a bundle */
} BundlePlace;

#define BUNDLE_MAX_PROGRAMS 16u

typedef struct Bundles {
        BundlePlace *places; /* owned */
        size_t n_places;
        size_t next_place;       /* to be replaced, once there are too many */
        BundlePlace unpacked_in; /* the bundle that has the assembly that was unpacked last, ... */
        uint64_t unpacked_at;    /* ... and where it has that; 0: none was */
        int unpacked;            /* owned: its bytes */
        char *programs[BUNDLE_MAX_PROGRAMS]; /* owned: paths of bundles that have ended; or NULL */
        unsigned next_program;
} Bundles;

void bundles_deinit(Bundles *bundles);

/* A program that has ended: its modules are those that were beside it. Forgets the one that was
 * added first, if there are too many. False: no memory. */
bool bundles_add_program(Bundles *bundles, const char *path);

/*
 * Calls FN for the assembly with the path of the module, in the program that process PID runs; with
 * PID 0, below ROOT in the program that is called as the module is and beside it, and in those
 * beside it that were added. True if FN was. What is read and unpacked is added to WORK.
 */
bool bundles_find_image(Bundles *bundles, pid_t pid, int root, const char *module_path,
                        uint64_t *work, ImageFn fn, void *data);

/* The same, in the file HOST. */
bool bundles_find_image_in(Bundles *bundles, int host, const char *module_path, uint64_t *work,
                           ImageFn fn, void *data);

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
bool bundles_find_at(Bundles *bundles, int host, uint64_t offset, uint64_t *work, BundleFile *ret);

/* Is a file in HOST compressed? False: none is, or HOST is not a bundle. */
bool bundle_is_packed(int host);
