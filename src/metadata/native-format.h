/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Native format: the numbers, arrays and hash tables of ReadyToRun images (dotnet/runtime,
 * nativeformatreader.h)
 *
 * Offsets are from the begin of a table's bytes. All reads are checked against its end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct NativeTable {
        const uint8_t *at; /* borrowed */
        size_t n;
} NativeTable;

/* The unsigned number at *OFFSET, which moves after it. False if there is none. */
bool native_number(const NativeTable *table, size_t *offset, uint32_t *ret);

/* How many elements an array has room for; 0 if it is not an array. */
uint32_t native_array_n(const NativeTable *table);
/* Where element I of an array is. False if it has none. */
bool native_array_find(const NativeTable *table, uint32_t i, size_t *ret_offset);

/* A walk through a hash table. */
typedef struct NativeWalk {
        const NativeTable *table;
        uint32_t bucket, n_buckets;
        unsigned index_size; /* bytes of an offset of a bucket */
        size_t at, end;      /* in the bucket */
} NativeWalk;

/* False if it is not a hash table. */
bool native_walk_begin(NativeWalk *walk, const NativeTable *table);
/* Where the next entry is. False at the end, and where the table is damaged. */
bool native_walk_next(NativeWalk *walk, size_t *ret_offset);
