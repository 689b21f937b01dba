/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * SymbolTable: names of native code by address
 *
 * Of several symbols at one address the table keeps one: a symbol with a size before one without,
 * of those without a size the last one, else a strong one before a weak one, a global one before a
 * local one, then the one with fewer leading underscores, then the longer one, as perf does
 * (tools/perf/util/symbol.c). A symbol without a size inside of one with a size is a label of
 * assembly code, as __syscall_cancel_arch_end in glibc: the table drops the label, as gdb does.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The rank of a name, if several symbols have one address. */
typedef enum SymbolRank {
        SYMBOL_WEAK = 1 << 0,
        SYMBOL_LOCAL = 1 << 1,
} SymbolRank;

typedef struct SymbolTable {
        GArray *rows; /* owned: by address, once sorted */
        GByteArray *names;
} SymbolTable;

void symbol_table_init(SymbolTable *table);
/* One of zeros is fine. */
void symbol_table_deinit(SymbolTable *table);

/* SIZE in bytes; 0: not known, and the symbol names only its first address. RANK: of SymbolRank. */
void symbol_table_add(SymbolTable *table, uint64_t start, uint64_t size, const char *name,
                      unsigned rank);
/* To be called after the last symbol. IS_EXTENDED: a symbol without a size reaches up to the next
 * one, the last one up to the end of the next page. */
void symbol_table_sort(SymbolTable *table, bool is_extended);

/* Adds BY to each address. */
void symbol_table_move(SymbolTable *table, uint64_t by);

/* The symbol at ADDRESS, and its start; valid until the table changes. NULL: none. */
const char *symbol_table_find(const SymbolTable *table, uint64_t address, uint64_t *ret_start);

/* Bytes of memory. */
size_t symbol_table_size(const SymbolTable *table);
