/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * IL map: native offset to IL offset, for one native code version
 *
 * The runtime's entries are not sorted by native offset. The map keeps them sorted, as deltas of
 * variable length.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct IlMap IlMap;

/* IL_OFFSETS and NATIVE_OFFSETS: N unaligned little-endian u32 each. */
IlMap *ilmap_new(const uint8_t *il_offsets, const uint8_t *native_offsets, uint32_t n,
                 uint64_t il_version);
void ilmap_free(IlMap *map);

/* The IL version that the offsets refer to: 0 the original, else the profiling API's ReJITID. */
uint64_t ilmap_version(const IlMap *map);

/*
 * The IL offset of the instruction at a native offset, or one of IL_OFFSET_*. False if the map has
 * no entry at or before that offset.
 */
bool ilmap_lookup(const IlMap *map, uint32_t native_offset, int32_t *ret_il_offset);
/* Prefetches the two cache lines that most lookups read. */
static inline void ilmap_prefetch(const IlMap *map)
{
        __builtin_prefetch(map);
        __builtin_prefetch((const char *)map + 64);
}

/* The highest IL offset of the map, at least 0. */
int32_t ilmap_last(const IlMap *map);
size_t ilmap_n_entries(const IlMap *map);
/* Bytes allocated. */
size_t ilmap_size(const IlMap *map);

/* The map's ilmap_size() bytes, for ilmap_from_bytes(); borrowed. */
const void *ilmap_bytes(const IlMap *map);
/* A new map from such bytes; NULL if they are not of a map. */
IlMap *ilmap_from_bytes(const uint8_t *bytes, size_t n);
