/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Index: finds numbers (of rows in an array of somebody's) by a hash of what they stand for
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

typedef struct IndexSlot {
        uint64_t hash;
        uint32_t number; /* INDEX_NONE: free */
} IndexSlot;

typedef struct Index {
        IndexSlot *slots; /* owned */
        size_t n_slots;   /* a power of 2, or 0 */
        size_t n;
} Index;

/* Is it the row of this NUMBER that KEY asks for? */
typedef bool (*IndexEqual)(const void *rows, uint32_t number, const void *key);

/* INDEX_NONE if there is none. */
uint32_t index_find(const Index *index, uint64_t hash, IndexEqual equal, const void *rows,
                    const void *key);
/* False if there is no memory. */
bool index_add(Index *index, uint64_t hash, uint32_t number);
void index_clear(Index *index);
void index_deinit(Index *index);

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n);
uint64_t hash_text(uint64_t hash, const char *text);
uint64_t hash_number(uint64_t hash, uint64_t number);
