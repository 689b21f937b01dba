/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PDB cache: PDBs by their files
 *
 * A file counts as unchanged while its device, inode, size and time of change are the same. Above
 * its limit, the cache evicts the least recently used PDBs. Their entries stay, so that a holder of
 * an entry can check whether its PDB is loaded.
 */

#include "pdb/pdb.h"

#include <sys/stat.h>

/* Limit in bytes of all PDBs; the PDB in use is never evicted. */
#define PDB_CACHE_BYTES (32u << 20)
/* Larger files are not read. */
#define PDB_MAX_BYTES (128u << 20)

typedef struct PdbFile {
        dev_t device;
        ino_t inode;
        off_t size;
        uint64_t begin; /* offset in the file of the image whose PDB this is; 0: the PDB is the
                           file's, or the file itself */
        struct timespec changed;
        uint64_t used; /* the cache's counter at the last use */
        bool is_loaded;
        bool has_id; /* the PDB was loaded before, or is another one: `id` is valid */
        PdbId id;
        Pdb pdb;          /* valid while loaded */
        char **documents; /* owned: paths by row; NULL elements: not requested yet */
        uint32_t n_documents;
        size_t n_bytes; /* memory of all */
} PdbFile;

typedef struct PdbCache {
        PdbFile **files; /* owned */
        size_t n;
        size_t n_bytes;
        uint64_t n_uses;
} PdbCache;

void pdb_cache_deinit(PdbCache *cache);

/*
 * The entry of the PDB in the file, or in the image at BEGIN of the file; a new one if necessary.
 * NULL: no memory.
 */
PdbFile *pdb_cache_file(PdbCache *cache, const struct stat *status, uint64_t begin);
/* Stores the id of the PDB in FILE, which is not loaded. */
void pdb_cache_note(PdbFile *file, const PdbId *id);
/* Takes over PDB; FILE is not loaded. */
void pdb_cache_load(PdbCache *cache, PdbFile *file, const Pdb *pdb);
/* Marks FILE as the most recently used. */
void pdb_cache_use(PdbCache *cache, PdbFile *file);
/* The document's path. MAKE makes it at the first request, by malloc(); NULL: none. */
const char *pdb_cache_document(PdbCache *cache, PdbFile *file, uint32_t document,
                               char *(*make)(const char *path, void *data), void *data);
