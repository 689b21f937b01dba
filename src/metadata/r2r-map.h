/* SPDX-License-Identifier: MIT */
#pragma once

/* R2R map: maps a method's native code in a ReadyToRun image to its IL */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of `il` that are not offsets. */
#define R2R_IL_NO_MAPPING (-1)
#define R2R_IL_PROLOG     (-2)
#define R2R_IL_EPILOG     (-3)

/* Code from `native` on, up to the next entry, comes from `il`. */
typedef struct R2RMapEntry {
        uint32_t native; /* bytes from the method's begin */
        int32_t il;      /* offset, or R2R_IL_* */
        uint8_t source;  /* the image's source bits */
} R2RMapEntry;

typedef struct R2RMap {
        R2RMapEntry *entries; /* owned by the caller; by `native`, as in the image */
        uint32_t n;
} R2RMap;

/*
 * Decodes the debug information at BYTES, of at most N bytes. SOURCE_BITS: size of each source, if
 * bounds are in bits; 0: bounds are in nibbles. Returns 0; -EBADMSG; or -ENOMEM. The caller frees
 * the entries.
 */
int r2r_map_decode(R2RMap *ret, const uint8_t *bytes, size_t n, unsigned source_bits);

/*
 * The IL offset at a native offset, by the runtime's rule: of equal native offsets, the lowest IL
 * offset wins, except R2R_IL_NO_MAPPING. False: before the first entry.
 */
bool r2r_map_lookup(const R2RMap *map, uint32_t native, int32_t *ret_il);
