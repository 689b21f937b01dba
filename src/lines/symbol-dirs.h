/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Symbol directories: where PDBs are looked for that are not beside their assembly, and images that
 * are not where they were
 *
 * In each directory DIR: DIR/NAME, and as symbol servers and the caches of debuggers lay them out,
 * DIR/NAME/KEY/NAME (dotnet/symstore: SSQP_Key_Conventions.md). The key of a PDB is its GUID and
 * "ffffffff". That of an image is made of its time and size, which no event has: all are tried.
 * Servers take no notice of capitals, and what fills a cache has habits of its own: dotnet-symbol
 * and the debuggers write NAME and GUID in small letters, with "FFFFFFFF".
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
/* Those of $CLRSYM_SYMBOLS, separated by colons, and the caches of debuggers. False: no memory. */
bool symbol_dirs_add_default(SymbolDirs *dirs);

/* Ways to lay out a directory. */
typedef enum SymbolLayout {
        SYMBOL_PLAIN,
        SYMBOL_SERVER,       /* all of the key in small letters */
        SYMBOL_SERVER_LARGE, /* in capitals */
        SYMBOL_SERVER_MIXED, /* the GUID in small letters, then "FFFFFFFF" */
        _SYMBOL_LAYOUT_MAX,
} SymbolLayout;

/*
 * Writes the path of a PDB called NAME into the N bytes of BUFFER. False if it does not fit, or
 * NAME is not the name of a file.
 */
bool symbol_dirs_path(const char *dir, const char *name, const uint8_t guid[PDB_GUID_SIZE],
                      SymbolLayout layout, char *buffer, size_t n);

/* NAME with small letters for the capitals of ASCII. False: it has none, or does not fit. */
bool symbol_dirs_small_name(const char *name, char *buffer, size_t n);

/*
 * Calls FN for each image that is called as the module with that path is, until it is true; then
 * that is returned. Of each directory's 256 at most. WORK is that of the images.
 */
bool symbol_dirs_find_image(const SymbolDirs *dirs, const char *module_path, uint64_t *work,
                            ImageFn fn, void *data);

/* The last part of a path of any system. Borrowed from PATH. */
const char *symbol_dirs_name(const char *path);
