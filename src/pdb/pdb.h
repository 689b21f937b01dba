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

/* An assembly's facts about its PDB. */
typedef struct PdbCheck {
        PdbId id;
        const uint8_t *checksum; /* borrowed: PDB_CHECKSUM_SIZE bytes */
} PdbCheck;

/*
 * Reads the N bytes at BYTES, and takes them over; a failure frees them. If CHECK is not NULL and
 * the PDB has its id, the PDB must have its checksum. Keeps only the needed bytes. False: the bytes
 * are not a portable PDB; *RET_REASON is the reason (static).
 */
bool pdb_read(Pdb *ret, uint8_t *bytes, size_t n, const PdbCheck *check, const char **ret_reason);
void pdb_deinit(Pdb *pdb);

/*
 * Writes the path of a document, in the compiler's spelling, NUL-terminated, into the N bytes of
 * BUFFER. False if the document does not exist, or its path is longer or has a NUL. The path is
 * unchecked UTF-8.
 */
bool pdb_document_path(const Pdb *pdb, uint32_t document, char *buffer, size_t n);

/*
 * The checksum of a document's bytes at compilation: 20 bytes of SHA-1, or 32 of SHA-256. Borrowed
 * from PDB. False: another algorithm, or none.
 */
bool pdb_document_checksum(const Pdb *pdb, uint32_t document, MetadataSpan *ret);

/* The programmer's method behind a state machine's MoveNext; 0: METHOD is not a MoveNext. */
uint32_t pdb_kickoff_method(const Pdb *pdb, uint32_t method);
