/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Name cache: the texts that a daemon has sent over one connection, by id
 *
 * A text does not move. It stays until name_cache_release(), even if its id is reused or all ids
 * are forgotten, because answers of the same call can point to it.
 */

#include <stddef.h>
#include <stdint.h>

typedef struct NameChunk NameChunk;

typedef struct NameSlot {
        uint32_t id;      /* 0: free */
        const char *text; /* in a chunk */
} NameSlot;

typedef struct NameCache {
        NameSlot *slots; /* owned: open addressing */
        size_t n_slots;  /* 0, or a power of two */
        size_t n_names;
        size_t n_bytes;     /* bytes of texts with an id */
        size_t n_stored;    /* bytes of all texts in `chunks` */
        NameChunk *chunks;  /* owned */
        NameChunk *retired; /* owned: forgotten, but not released */
} NameCache;

/* NULL: no text has that id. */
const char *name_cache_find(const NameCache *names, uint32_t id);
/* Copies N bytes of TEXT. -ENOMEM; -EBADMSG: not UTF-8, or with a NUL; -ENOBUFS: more than a daemon
 * may send. */
int name_cache_set(NameCache *names, uint32_t id, const char *text, size_t n);
void name_cache_forget(NameCache *names);
void name_cache_release(NameCache *names);
void name_cache_deinit(NameCache *names);
