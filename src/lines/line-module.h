/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Line module: a module of a process, and its PDB
 *
 * The PDB must have the GUID of the module's load event. If the assembly's file exists, the PDB
 * must also have the assembly's GUID and stamp, and the checksum that the assembly has for it, if
 * any. A matching name is never enough.
 */

#include "lines/image-sources.h"
#include "lines/pdb-cache.h"

#include <sys/types.h>

/* The result of the search for a PDB. */
typedef enum PdbState {
        PDB_FOUND,
        PDB_NONE,    /* the module was compiled without one, or its identity is not known */
        PDB_MISSING, /* no file found */
        PDB_OTHER,   /* only PDBs of other builds found */
        PDB_WINDOWS, /* the module's only PDB is a Windows PDB */
        PDB_UNREADABLE,
} PdbState;

typedef struct LineModule {
        pid_t pid;      /* 0: files are in this process's root directory */
        char *path;     /* owned */
        char *pdb_path; /* owned: path that the compiler wrote the PDB to; "": not known */
        bool has_guid;  /* false: no PDB, or its identity is not known */
        uint8_t guid[PDB_GUID_SIZE]; /* from the event */
        uint64_t hash;
        PdbState state;
        PdbFile *file; /* borrowed from the cache; valid with PDB_FOUND */
} LineModule;

void line_module_free(LineModule *module);

/*
 * Searches and loads the module's PDB: sets state and file. False: the process has used up its
 * work.
 */
bool line_module_find(LineModule *module, ImageSources *sources, PdbCache *cache);
