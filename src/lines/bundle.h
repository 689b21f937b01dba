/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Bundle: the assemblies in the file of a single-file program (dotnet/designs:
 * accepted/2020/single-file/bundler.md)
 *
 * The runtime reports such an assembly by a path beside the program, without a file there.
 *
 * Finding a bundle in a program reads up to 64 MiB; the table of its files has at most 4 MiB; a
 * compressed assembly is unpacked up to 256 MiB. Bundles therefore remembers which files are
 * bundles, and which are not, and keeps the last unpacked assembly.
 */

#include "lines/image-bytes.h"

#include <sys/stat.h>
#include <sys/types.h>

/* A file searched before. The result holds while its inode is unchanged. */
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
        size_t next_place;                   /* to be replaced when there are too many */
        BundlePlace unpacked_in;             /* the bundle of the last unpacked assembly, ... */
        uint64_t unpacked_at;                /* ... and its place there; 0: none */
        int unpacked;                        /* owned: its bytes */
        char *programs[BUNDLE_MAX_PROGRAMS]; /* owned: paths of ended bundles; or NULL */
        unsigned next_program;
} Bundles;

void bundles_deinit(Bundles *bundles);

/*
 * Adds a program that has ended: modules beside its path can be its own. If there are too many, the
 * oldest one is dropped. False: no memory.
 */
bool bundles_add_program(Bundles *bundles, const char *path);

/*
 * Calls FN for the assembly with the module's path. With PID, it is in the program that this
 * process runs. With PID 0, it is below ROOT, in a program beside the module: the one with the
 * module's name, or one of those added. True if FN returned true. Bytes read and unpacked are added
 * to WORK.
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
 * The file in the bundle HOST with the byte at OFFSET. False: there is none, or it is compressed:
 * no address of a process is in the bundle then.
 */
bool bundles_find_at(Bundles *bundles, int host, uint64_t offset, uint64_t *work, BundleFile *ret);

/* True if a file in HOST is compressed. */
bool bundle_is_packed(int host);
