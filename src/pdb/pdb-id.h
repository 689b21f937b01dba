/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * PDB id: the id shared by an assembly and its PDB
 *
 * A deterministic compiler derives GUID and stamp from a hash of the PDB; other compilers take a
 * random GUID and the current time.
 */

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define PDB_GUID_SIZE     16
#define PDB_CHECKSUM_SIZE 32

typedef struct PdbId {
        uint8_t guid[PDB_GUID_SIZE]; /* in the byte order of the files */
        uint32_t stamp;
} PdbId;

static inline bool pdb_id_equals(const PdbId *a, const PdbId *b)
{
        return a->stamp == b->stamp && memcmp(a->guid, b->guid, PDB_GUID_SIZE) == 0;
}
