/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Native format: the numbers, arrays and hash tables of ReadyToRun images (dotnet/runtime,
 * nativeformatreader.h)
 *
 * Offsets count from the begin of a table's bytes. All reads are checked against the table's end.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct NativeTable {
        const uint8_t *at; /* borrowed */
        size_t n;
} NativeTable;

/* Reads the unsigned number at *OFFSET, and moves *OFFSET behind it. False: no number. */
bool native_number(const NativeTable *table, size_t *offset, uint32_t *ret);

/* The number of elements of an array; 0: not an array. */
uint32_t native_array_n(const NativeTable *table);
/* The offset of element I of an array. False: the array lacks it. */
bool native_array_find(const NativeTable *table, uint32_t i, size_t *ret_offset);

/* A walk through a hash table. */
typedef struct NativeWalk {
        const NativeTable *table;
        uint32_t bucket, n_buckets;
        unsigned index_size; /* bytes of an offset of a bucket */
        size_t at, end;      /* in the bucket */
} NativeWalk;

/* False: not a hash table. */
bool native_walk_begin(NativeWalk *walk, const NativeTable *table);
/* The offset of the next entry. False: end of the table, or damage. */
bool native_walk_next(NativeWalk *walk, size_t *ret_offset);
