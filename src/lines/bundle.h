/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bundle: the assemblies in the file of a single-file program (dotnet/designs:
 * accepted/2020/single-file/bundler.md)
 *
 * The runtime reports such an assembly by a path beside the program, where there is no file.
 *
 * Costs: the search for a bundle reads up to 64 MiB of a program; the table of its files has at
 * most 4 MiB; a compressed assembly is unpacked up to 256 MiB. Bundles therefore remembers the
 * result for each program, and keeps the last unpacked assembly.
 */

#include "lines/image-bytes.h"

#include <sys/stat.h>
#include <sys/types.h>

/* The result of a search in a file, valid while its inode is unchanged. */
typedef struct BundlePlace {
        dev_t device;
        ino_t inode;
        off_t size;
        struct timespec changed;
        uint64_t header; /* offset of the bundle's header; 0: the file is not a bundle */
} BundlePlace;

#define BUNDLE_MAX_PROGRAMS 16u

typedef struct Bundles {
        BundlePlace *places; /* owned */
        size_t n_places;
        size_t next_place;                   /* the next one to replace when all are used */
        BundlePlace unpacked_in;             /* bundle of the last unpacked assembly */
        uint64_t unpacked_at;                /* offset of that assembly in it; 0: none */
        int unpacked;                        /* owned: memfd with that assembly */
        char *programs[BUNDLE_MAX_PROGRAMS]; /* owned: paths of ended programs; or NULL */
        unsigned next_program;
} Bundles;

void bundles_deinit(Bundles *bundles);

/*
 * Adds an ended program: modules beside its path can be in it. At the limit, drops the oldest.
 * False: no memory.
 */
bool bundles_add_program(Bundles *bundles, const char *path);

/*
 * Calls FN for the assembly with the module's path. PID: searches the program of this process. PID
 * 0: searches below ROOT, in the program with the module's name beside the module, or in an added
 * program. True if FN returned true. Adds bytes read and unpacked to WORK.
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
        char name[BUNDLE_MAX_NAME]; /* without its directory */
} BundleFile;

/*
 * Finds the file with the byte at OFFSET of the bundle HOST. False: none, or it is compressed, so
 * no mapping of the program shows it.
 */
bool bundles_find_at(Bundles *bundles, int host, uint64_t offset, uint64_t *work, BundleFile *ret);

/* True if a file in HOST is compressed. */
bool bundle_is_packed(int host);
