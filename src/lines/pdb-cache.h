/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PDB cache: PDBs by their files
 *
 * A file is unchanged while its device, inode, size and time of change are. When the cache exceeds
 * its limit, it unloads the least recently used PDBs; their entries stay, so that a holder of an
 * entry can check whether the PDB is loaded.
 */

#include "pdb/pdb.h"

#include <sys/stat.h>

/* Bytes of all PDBs in a cache; the one in use is always kept. */
#define PDB_CACHE_BYTES (32u << 20)
/* Larger files are not read. */
#define PDB_MAX_BYTES (128u << 20)

typedef struct PdbFile {
        dev_t device;
        ino_t inode;
        off_t size;
        uint64_t begin; /* offset of an image in the file whose PDB this is; 0: the PDB of the file,
                         * or the file itself */
        struct timespec changed;
        uint64_t used; /* the cache's counter at the latest use */
        bool is_loaded;
        bool has_id; /* it was loaded before, or is not the wanted PDB */
        PdbId id;
        Pdb pdb;          /* while it is loaded */
        char **documents; /* owned: paths by row, made when they are asked for; NULL elements: not
                             yet */
        uint32_t n_documents;
        size_t n_bytes; /* of everything */
} PdbFile;

typedef struct PdbCache {
        PdbFile **files; /* owned */
        size_t n;
        size_t n_bytes;
        uint64_t n_uses;
} PdbCache;

void pdb_cache_deinit(PdbCache *cache);

/*
 * The entry of the PDB in the file, or in the image at BEGIN of the file; made if there is none.
 * NULL: no memory.
 */
PdbFile *pdb_cache_file(PdbCache *cache, const struct stat *status, uint64_t begin);
/* Notes the id of the PDB in FILE, which is not loaded. */
void pdb_cache_note(PdbFile *file, const PdbId *id);
/* Takes over PDB; FILE is not loaded. */
void pdb_cache_load(PdbCache *cache, PdbFile *file, const Pdb *pdb);
/* Marks FILE as the latest used. */
void pdb_cache_use(PdbCache *cache, PdbFile *file);
/* The document's path, made by MAKE (malloc()ed) at the first call; NULL: there is none. */
const char *pdb_cache_document(PdbCache *cache, PdbFile *file, uint32_t document,
                               char *(*make)(const char *path, void *data), void *data);
