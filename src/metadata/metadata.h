/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Metadata: the tables and heaps of an assembly or of a portable PDB (ECMA-335, partition II, 24;
 * tables from 0x30 on: the specification of portable PDBs in dotnet/runtime)
 *
 * The reader uses the caller's memory, and allocates nothing. All sizes are checked once, and each
 * access is checked against them, so damaged metadata gives a failure, never a byte outside.
 */

#include "metadata/byte-cursor.h"
#include "metadata/metadata-tables.h"

/*
 * MethodImplAttributes.Async: the IL is the variant's, which returns the result; the compiler
 * generates the body that returns the task. Without it, the other way round.
 */
#define METHOD_IMPL_ASYNC 0x2000u

/* Columns, in the standard's order. */
enum {
        MODULE_MVID = 2,
        TYPE_REF_SCOPE = 0,
        TYPE_REF_NAME = 1,
        TYPE_REF_NAMESPACE = 2,
        TYPE_DEF_NAME = 1,
        TYPE_DEF_NAMESPACE = 2,
        TYPE_DEF_METHODS = 5,
        METHOD_DEF_RVA = 0,
        METHOD_DEF_IMPL_FLAGS = 1,
        METHOD_DEF_NAME = 3,
        METHOD_DEF_SIGNATURE = 4,
        METHOD_DEF_PARAMS = 5,
        MEMBER_REF_PARENT = 0,
        MEMBER_REF_NAME = 1,
        MEMBER_REF_SIGNATURE = 2,
        TYPE_SPEC_SIGNATURE = 0,
        ASSEMBLY_NAME = 7,
        ASSEMBLY_REF_NAME = 6,
        NESTED_CLASS_NESTED = 0,
        NESTED_CLASS_ENCLOSING = 1,
        GENERIC_PARAM_NUMBER = 0,
        GENERIC_PARAM_OWNER = 2,
        GENERIC_PARAM_NAME = 3,
        DOCUMENT_NAME = 0,
        DOCUMENT_HASH_ALGORITHM = 1,
        DOCUMENT_HASH = 2,
        DOCUMENT_LANGUAGE = 3,
        METHOD_DEBUG_DOCUMENT = 0,
        METHOD_DEBUG_POINTS = 1,
        STATE_MACHINE_MOVE_NEXT = 0,
        STATE_MACHINE_KICKOFF = 1,
        CUSTOM_DEBUG_PARENT = 0,
        CUSTOM_DEBUG_KIND = 1,
        CUSTOM_DEBUG_VALUE = 2,
};

/* The place of a table's rows, and of the cells in a row. */
typedef struct MetadataRows {
        const uint8_t *at; /* borrowed */
        uint32_t n;
        uint16_t size; /* bytes of a row */
        uint8_t n_columns;
        uint8_t begin[METADATA_MAX_COLUMNS]; /* of a cell in its row */
        uint8_t width[METADATA_MAX_COLUMNS]; /* 2 or 4 */
} MetadataRows;

typedef struct MetadataSpan {
        const uint8_t *at; /* borrowed */
        size_t n;
} MetadataSpan;

typedef struct Metadata {
        MetadataSpan strings, blobs, guids;
        MetadataSpan pdb; /* the stream #Pdb; empty in an assembly */
        MetadataRows tables[_METADATA_TABLE_MAX];
} Metadata;

/*
 * Reads the N bytes at BYTES, which must stay valid as long as METADATA. False: not metadata, or an
 * unsupported kind; *RET_REASON is the reason (static).
 */
bool metadata_read(Metadata *ret, const uint8_t *bytes, size_t n, const char **ret_reason);

/* The cell of row RID, from 1. False: no such row or column. */
bool metadata_cell(const Metadata *metadata, MetadataTable table, uint32_t rid, unsigned column,
                   uint32_t *ret);
static inline uint32_t metadata_n_rows(const Metadata *metadata, MetadataTable table)
{
        return metadata->tables[table].n;
}

/* The text at INDEX of the heap #Strings, NUL-terminated; NULL: INDEX is invalid. */
const char *metadata_string(const Metadata *metadata, uint32_t index);
/* The text in a cell. */
const char *metadata_cell_string(const Metadata *metadata, MetadataTable table, uint32_t rid,
                                 unsigned column);
bool metadata_blob(const Metadata *metadata, uint32_t index, MetadataSpan *ret);
/* The 16 bytes of GUID number INDEX, from 1; NULL: INDEX is invalid. */
const uint8_t *metadata_guid(const Metadata *metadata, uint32_t index);

/* Decodes a coded index to table and row. False: an unused tag. */
bool metadata_decode(MetadataCode code, uint32_t value, MetadataTable *ret_table,
                     uint32_t *ret_rid);
