/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Symbol directories: places of PDBs that are not beside their assembly, and of moved images
 *
 * Each directory DIR is searched for DIR/NAME, and for DIR/NAME/KEY/NAME, the layout of symbol
 * servers and debuggers' caches (dotnet/symstore: SSQP_Key_Conventions.md). A PDB's key is its GUID
 * and "ffffffff". An image's key contains its time and size, which events lack, so all keys are
 * tried. Servers ignore case, but clients that fill a cache do not: dotnet-symbol and the debuggers
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
 * Adds the colon-separated directories of $CLRSYM_SYMBOLS, and the caches of debuggers. False: no
 * memory.
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
 * Writes the path of the PDB NAME into BUFFER of N bytes. False: the path does not fit, or NAME is
 * not a file name.
 */
bool symbol_dirs_path(const char *dir, const char *name, const uint8_t guid[PDB_GUID_SIZE],
                      SymbolLayout layout, char *buffer, size_t n);

/* NAME with ASCII letters in lower case. False: no upper case in it, or it does not fit. */
bool symbol_dirs_small_name(const char *name, char *buffer, size_t n);

/*
 * Calls FN for each image with the name of the module's file, until FN returns true; returns that.
 * Tries at most 256 images of each directory. WORK: counter of read bytes.
 */
bool symbol_dirs_find_image(const SymbolDirs *dirs, const char *module_path, uint64_t *work,
                            ImageFn fn, void *data);

/* The last part of a Unix or Windows path. Borrowed from PATH. */
const char *symbol_dirs_name(const char *path);
