/* SPDX-License-Identifier: MIT */
#pragma once

/* Hash index: maps a hash of a key to the row number in an array */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE UINT32_MAX

typedef struct HashIndexSlot {
        uint64_t hash;
        uint32_t number; /* INDEX_NONE: free */
} HashIndexSlot;

typedef struct HashIndex {
        HashIndexSlot *slots; /* owned */
        size_t n_slots;       /* a power of 2, or 0 */
        size_t n;
} HashIndex;

/* True if the key of row NUMBER is KEY. */
typedef bool (*HashIndexEqual)(const void *rows, uint32_t number, const void *key);

/* INDEX_NONE: no such row. */
uint32_t hash_index_find(const HashIndex *index, uint64_t hash, HashIndexEqual equal,
                         const void *rows, const void *key);
/* False: no memory. */
bool hash_index_add(HashIndex *index, uint64_t hash, uint32_t number);
void hash_index_clear(HashIndex *index);
void hash_index_deinit(HashIndex *index);

uint64_t hash_index_bytes(uint64_t hash, const void *bytes, size_t n);
uint64_t hash_text(uint64_t hash, const char *text);
uint64_t hash_number(uint64_t hash, uint64_t number);
