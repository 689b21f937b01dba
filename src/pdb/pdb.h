/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Portable PDB: the source lines of an assembly's methods (the specification of portable PDBs in
 * dotnet/runtime: docs/design/specs/PortablePdb-Metadata.md)
 *
 * Methods are rows of the assembly's table MethodDef: the lower 24 bits of their tokens.
 */

#include "metadata/metadata.h"
#include "pdb/pdb-id.h"

typedef struct Pdb {
        uint8_t *bytes; /* owned */
        size_t n;
        Metadata metadata;
        PdbId id;
} Pdb;

/* What an assembly says of its PDB. */
typedef struct PdbCheck {
        PdbId id;
        const uint8_t *checksum; /* borrowed: PDB_CHECKSUM_SIZE bytes */
} PdbCheck;

/*
 * Reads the N bytes at BYTES, which PDB owns from now on, and which are freed on failure. If CHECK
 * is not NULL, and they are the PDB with its id, they have to have its checksum. Keeps no more of
 * them than it needs. False if they are not a portable PDB; *RET_REASON (static) is why.
 */
bool pdb_read(Pdb *ret, uint8_t *bytes, size_t n, const PdbCheck *check, const char **ret_reason);
void pdb_deinit(Pdb *pdb);

/*
 * Writes the path of a document, as the compiler got it, NUL-terminated, into the N bytes of
 * BUFFER. False if there is no such document, or its path is longer or has a NUL. It is UTF-8 that
 * nobody has checked.
 */
bool pdb_document_path(const Pdb *pdb, uint32_t document, char *buffer, size_t n);

/*
 * The checksum of a document's bytes as they were compiled: of 20 bytes it is SHA-1, of 32 SHA-256.
 * Borrowed from PDB. False if there is none of these.
 */
bool pdb_document_checksum(const Pdb *pdb, uint32_t document, MetadataSpan *ret);

/* The method as the programmer wrote it, of a state machine's MoveNext; 0: METHOD is not a
 * MoveNext. */
uint32_t pdb_kickoff_method(const Pdb *pdb, uint32_t method);
