/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Type list: the types in a BulkType, each with its type arguments
 *
 * Rows as the runtime packs them (ClrEtwAll.man, BulkType): TypeID u64, ModuleID u64, TypeNameID
 * u32, Flags u32, CorElementType u8, Name in UTF-16 with its NUL, TypeParameterCount u32, and as
 * many TypeIDs of u64. With the details of methods the name is empty: the token names the type.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* TypeFlags of the runtime. */
#define TYPE_FLAG_ARRAY 0x8u
/* An array's dimensions; 0: one dimension that begins at 0. */
#define TYPE_FLAG_RANK_SHIFT 8
#define TYPE_FLAG_RANK_MASK  0x3fu

typedef struct TypeRow {
        uint64_t type_id;
        uint64_t module_id;
        uint32_t token; /* TypeDef, in the metadata of the module */
        uint32_t flags;
        uint8_t element_type; /* ECMA-335, II.23.1.16; for an enum, the type of its numbers */
        const uint8_t *name;  /* UTF-16LE, unaligned */
        uint32_t n_name;      /* units */
        uint32_t n_arguments;
        const uint8_t *arguments; /* TypeIDs, little-endian, unaligned; of an array, its elements */
} TypeRow;

/*
 * Reads the row at *AT, of which *N bytes are left, and moves both to its end. False if the row is
 * incomplete; then neither moves.
 */
bool type_list_next(const uint8_t **at, size_t *n, TypeRow *ret);
/* Argument I of the row. */
uint64_t type_row_argument(const TypeRow *row, uint32_t i);
/* Bytes of COUNT rows; -1 if the N bytes at AT have fewer rows. */
ptrdiff_t type_list_size(const uint8_t *at, size_t n, uint32_t count);
