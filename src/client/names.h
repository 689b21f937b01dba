/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Names: the texts that a daemon has sent over one connection, by id
 *
 * A text does not move, and stays until names_release() even if another takes its id or all are
 * forgotten: answers given in the same call may point to it.
 */

#include <stddef.h>
#include <stdint.h>

typedef struct NameChunk NameChunk;

typedef struct NameSlot {
        uint32_t id;      /* 0: free */
        const char *text; /* in a chunk */
} NameSlot;

typedef struct Names {
        NameSlot *slots; /* owned: open addressing */
        size_t n_slots;  /* 0, or a power of two */
        size_t n_names;
        size_t n_bytes;     /* of the texts that have an id */
        size_t n_stored;    /* of all in `chunks` */
        NameChunk *chunks;  /* owned */
        NameChunk *retired; /* owned: forgotten, but not released */
} Names;

/* NULL if there is none. */
const char *names_find(const Names *names, uint32_t id);
/*
 * Copies N bytes of TEXT. -ENOMEM; -EBADMSG if that is no UTF-8, or has a NUL; -ENOBUFS if
 * it is more than a daemon may send.
 */
int names_set(Names *names, uint32_t id, const char *text, size_t n);
void names_forget(Names *names);
void names_release(Names *names);
void names_deinit(Names *names);
