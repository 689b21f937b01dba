/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Symbol directories: places of PDBs that are not beside their assembly, and of images that have
 * moved
 *
 * In each directory DIR: DIR/NAME, and in the layout of symbol servers and debuggers' caches,
 * DIR/NAME/KEY/NAME (dotnet/symstore: SSQP_Key_Conventions.md). The key of a PDB is its GUID and
 * "ffffffff". The key of an image is made of its time and size, which no event has: all keys are
 * tried. Servers ignore case, and clients that fill a cache differ: dotnet-symbol and the debuggers
 * write NAME and GUID in lower case, with "FFFFFFFF".
 */

#include "lines/image-bytes.h"
#include "pdb/pdb-id.h"

#include <stddef.h>

typedef struct SymbolDirs {
        char **paths; /* owned, owned strings */
        size_t n;
} SymbolDirs;

void symbol_dirs_deinit(SymbolDirs *dirs);
/* False: no memory. */
bool symbol_dirs_add(SymbolDirs *dirs, const char *path);
/*
 * Adds the directories of $CLRSYM_SYMBOLS, separated by colons, and the caches of debuggers. False:
 * no memory.
 */
bool symbol_dirs_add_default(SymbolDirs *dirs);

/* Layouts of a directory. */
typedef enum SymbolLayout {
        SYMBOL_PLAIN,
        SYMBOL_SERVER,       /* the whole key in lower case */
        SYMBOL_SERVER_LARGE, /* in upper case */
        SYMBOL_SERVER_MIXED, /* the GUID in lower case, then "FFFFFFFF" */
        _SYMBOL_LAYOUT_MAX,
} SymbolLayout;

/*
 * Writes the path of a PDB called NAME into the N bytes of BUFFER. False if the path does not fit,
 * or NAME is not a file name.
 */
bool symbol_dirs_path(const char *dir, const char *name, const uint8_t guid[PDB_GUID_SIZE],
                      SymbolLayout layout, char *buffer, size_t n);

/* NAME with ASCII upper case turned to lower case. False: it has no upper case, or does not fit. */
bool symbol_dirs_small_name(const char *name, char *buffer, size_t n);

/*
 * Calls FN for each image with the name of the module's file, until FN returns true; returns that.
 * At most 256 images of each directory. WORK: for the images.
 */
bool symbol_dirs_find_image(const SymbolDirs *dirs, const char *module_path, uint64_t *work,
                            ImageFn fn, void *data);

/* The last part of a path of any system. Borrowed from PATH. */
const char *symbol_dirs_name(const char *path);
