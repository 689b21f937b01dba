/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PDB cache: PDBs that were read, by the file that has them
 *
 * A file is the same as long as its device, inode, size and time of change are. The PDBs that were
 * not asked for the longest go when there is more than the cache may keep; their entries stay, so
 * that whoever has one can ask whether it is still loaded.
 */

#include "pdb/pdb.h"

#include <sys/stat.h>

/* Bytes that the PDBs in a cache take together; the one that is used now is kept in any case. */
#define PDB_CACHE_BYTES (32u << 20)
/* A longer file is not read. */
#define PDB_MAX_BYTES (128u << 20)

typedef struct PdbFile {
        dev_t device;
        ino_t inode;
        off_t size;
        uint64_t
                begin; /* of the image in the file that has the PDB; 0: the file is it, or has it */
        struct timespec changed;
        uint64_t used; /* the cache's count of uses at the last one */
        bool is_loaded;
        bool has_id; /* it was loaded before, or is another one than that which was looked for */
        PdbId id;
        Pdb pdb;          /* if it is loaded */
        char **documents; /* owned: paths by row, made when they are asked for; NULL elements: not
                             yet */
        uint32_t n_documents;
        size_t n_bytes; /* of all of it */
} PdbFile;

typedef struct PdbCache {
        PdbFile **files; /* owned */
        size_t n;
        size_t n_bytes;
        uint64_t n_uses;
} PdbCache;

void pdb_cache_deinit(PdbCache *cache);

/*
 * The entry of the PDB in the file, or of that in the image at BEGIN of the file; new if there is
 * none. NULL: no memory.
 */
PdbFile *pdb_cache_file(PdbCache *cache, const struct stat *status, uint64_t begin);
/* What is in FILE, which is not loaded, whether it is loaded then or not. */
void pdb_cache_note(PdbFile *file, const PdbId *id);
/* Takes over PDB; FILE is not loaded. */
void pdb_cache_load(PdbCache *cache, PdbFile *file, const Pdb *pdb);
/* FILE is used now. */
void pdb_cache_use(PdbCache *cache, PdbFile *file);
/* The document's path, made by MAKE when it is asked for first (malloc()ed); NULL: there is none.
 */
const char *pdb_cache_document(PdbCache *cache, PdbFile *file, uint32_t document,
                               char *(*make)(const char *path, void *data), void *data);
