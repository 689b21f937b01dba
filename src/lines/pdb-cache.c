/* SPDX-License-Identifier: MIT */
#include "lines/pdb-cache.h"

#include <stdlib.h>

#define MAX_DOCUMENT_PATH 4096

static void file_unload(PdbCache *cache, PdbFile *file)
{
        uint32_t i;

        if (!file->is_loaded)
                return;
        pdb_deinit(&file->pdb);
        for (i = 0; i < file->n_documents; i++)
                free(file->documents[i]);
        free(file->documents);
        file->documents = NULL;
        file->n_documents = 0;
        file->is_loaded = false;
        cache->n_bytes -= file->n_bytes;
        file->n_bytes = 0;
}

void pdb_cache_deinit(PdbCache *cache)
{
        size_t i;

        for (i = 0; i < cache->n; i++) {
                file_unload(cache, cache->files[i]);
                free(cache->files[i]);
        }
        free(cache->files);
        *cache = (PdbCache){0};
}

static bool file_is(const PdbFile *file, const struct stat *status, uint64_t begin)
{
        return file->begin == begin && file->device == status->st_dev &&
               file->inode == status->st_ino && file->size == status->st_size &&
               file->changed.tv_sec == status->st_mtim.tv_sec &&
               file->changed.tv_nsec == status->st_mtim.tv_nsec;
}

PdbFile *pdb_cache_file(PdbCache *cache, const struct stat *status, uint64_t begin)
{
        PdbFile **files, *file;
        size_t i;

        for (i = 0; i < cache->n; i++)
                if (file_is(cache->files[i], status, begin))
                        return cache->files[i];
        files = realloc(cache->files, (cache->n + 1) * sizeof(*files));
        if (!files)
                return NULL;
        cache->files = files;
        file = calloc(1, sizeof(*file));
        if (!file)
                return NULL;
        *file = (PdbFile){.device = status->st_dev,
                          .inode = status->st_ino,
                          .size = status->st_size,
                          .begin = begin,
                          .changed = status->st_mtim};
        files[cache->n++] = file;
        return file;
}

/* Unloads the least recently used PDBs, except KEPT. */
static void cache_shrink(PdbCache *cache, const PdbFile *kept)
{
        while (cache->n_bytes > PDB_CACHE_BYTES) {
                PdbFile *oldest = NULL;
                size_t i;

                for (i = 0; i < cache->n; i++) {
                        PdbFile *file = cache->files[i];

                        if (file->is_loaded && file != kept &&
                            (!oldest || file->used < oldest->used))
                                oldest = file;
                }
                if (!oldest)
                        return;
                file_unload(cache, oldest);
        }
}

static void file_grow(PdbCache *cache, PdbFile *file, size_t n)
{
        file->n_bytes += n;
        cache->n_bytes += n;
        cache_shrink(cache, file);
}

void pdb_cache_note(PdbFile *file, const PdbId *id)
{
        file->has_id = true;
        file->id = *id;
}

void pdb_cache_load(PdbCache *cache, PdbFile *file, const Pdb *pdb)
{
        pdb_cache_note(file, &pdb->id);
        file->pdb = *pdb;
        file->is_loaded = true;
        pdb_cache_use(cache, file);
        file_grow(cache, file, pdb->n);
}

void pdb_cache_use(PdbCache *cache, PdbFile *file)
{
        file->used = ++cache->n_uses;
}

const char *pdb_cache_document(PdbCache *cache, PdbFile *file, uint32_t document,
                               char *(*make)(const char *path, void *data), void *data)
{
        uint32_t n = metadata_n_rows(&file->pdb.metadata, METADATA_DOCUMENT);
        char path[MAX_DOCUMENT_PATH], **slot;

        if (!document || document > n)
                return NULL;
        if (!file->documents) {
                file->documents = calloc(n, sizeof(*file->documents));
                if (!file->documents)
                        return NULL;
                file->n_documents = n;
                file_grow(cache, file, n * sizeof(*file->documents));
        }
        slot = &file->documents[document - 1];
        if (!*slot && pdb_document_path(&file->pdb, document, path, sizeof(path))) {
                *slot = make(path, data);
                if (*slot)
                        file_grow(cache, file, strlen(*slot) + 1);
        }
        return *slot;
}
