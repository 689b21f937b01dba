/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Line module: a module of a process, and its PDB
 *
 * The PDB has to have the GUID that the module's load event had, and the GUID and the stamp that
 * the assembly has, if its file is there; and its checksum where the assembly has one. A name is
 * never enough.
 */

#include "lines/image-sources.h"
#include "lines/pdb-cache.h"

#include <sys/types.h>

/* Why there is no PDB. */
typedef enum PdbState {
        PDB_FOUND,
        PDB_NONE,    /* the module was compiled without one, or it is not known which it is */
        PDB_MISSING, /* it is nowhere */
        PDB_OTHER,   /* only PDBs of other builds were found */
        PDB_WINDOWS, /* it has one of the kind that only Windows has */
        PDB_UNREADABLE,
} PdbState;

typedef struct LineModule {
        pid_t pid;                   /* 0: files are looked for in our own root directory */
        char *path;                  /* owned */
        char *pdb_path;              /* owned: where its compiler wrote the PDB; "": not known */
        bool has_guid;               /* else it has no PDB, or it is not known which it is */
        uint8_t guid[PDB_GUID_SIZE]; /* as the event had it */
        uint64_t hash;
        PdbState state;
        PdbFile *file; /* borrowed from the cache; with PDB_FOUND */
} LineModule;

void line_module_free(LineModule *module);

/*
 * Looks for the module's PDB, and loads it: sets state and file. False: it does not look, because
 * the process has cost too much.
 */
bool line_module_find(LineModule *module, ImageSources *sources, PdbCache *cache);
