/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Line module: a module of a process, and its PDB
 *
 * The PDB must have the GUID of the module's load event. If the assembly's file exists, the PDB
 * must also have the assembly's GUID and stamp, and its checksum, if it has one. A name alone is
 * never enough.
 */

#include "lines/image-sources.h"
#include "lines/pdb-cache.h"

#include <sys/types.h>

/* The result of the search for a PDB. */
typedef enum PdbState {
        PDB_FOUND,
        PDB_NONE,    /* the module was compiled without one, or its identity is not known */
        PDB_MISSING, /* no file was found */
        PDB_OTHER,   /* only PDBs of other builds were found */
        PDB_WINDOWS, /* the module has a PDB for Windows only */
        PDB_UNREADABLE,
} PdbState;

typedef struct LineModule {
        pid_t pid;                   /* 0: files are in this process's root directory */
        char *path;                  /* owned */
        char *pdb_path;              /* owned: where the compiler wrote the PDB; "": not known */
        bool has_guid;               /* else it has no PDB, or the PDB's identity is not known */
        uint8_t guid[PDB_GUID_SIZE]; /* from the event */
        uint64_t hash;
        PdbState state;
        PdbFile *file; /* borrowed from the cache; with PDB_FOUND */
} LineModule;

void line_module_free(LineModule *module);

/*
 * Searches the module's PDB, and loads it: sets state and file. False: no search, because the
 * process has used up its work.
 */
bool line_module_find(LineModule *module, ImageSources *sources, PdbCache *cache);
