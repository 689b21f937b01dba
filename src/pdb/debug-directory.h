/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Debug directory: the PDB of an assembly (the PE and COFF specification, and
 * docs/design/specs/PE-COFF.md of dotnet/runtime)
 */

#include "metadata/pe-file.h"
#include "pdb/pdb-id.h"

#include <stddef.h>

#define DEBUG_MAX_PATH 1024

typedef struct DebugDirectory {
        bool has_id; /* the assembly has a portable PDB */
        PdbId id;
        uint32_t age;
        char path[DEBUG_MAX_PATH]; /* where the compiler wrote it; empty: not known */
        bool has_checksum;         /* SHA-256 */
        uint8_t checksum[PDB_CHECKSUM_SIZE];
        uint32_t embedded_at, n_embedded; /* in the image; 0 bytes: it is not embedded */
        bool has_windows_pdb;             /* the only PDB is a Windows PDB */
} DebugDirectory;

/* Returns 0; -EBADMSG if the directory is damaged; or pread()'s error. */
int debug_directory_read(DebugDirectory *ret, const PeFile *file, const char **ret_reason);

/* True if the assembly has a portable PDB with that GUID. */
bool debug_directory_is_of(const PeFile *file, const uint8_t guid[PDB_GUID_SIZE]);

/*
 * The embedded PDB, unpacked, at most MAX bytes; the caller frees it. -ENOENT if there is none;
 * -EBADMSG if it is damaged or longer; -ENOMEM; or pread()'s error.
 */
int debug_directory_unpack(const DebugDirectory *directory, const PeFile *file, size_t max,
                           uint8_t **ret_bytes, size_t *ret_n, const char **ret_reason);
