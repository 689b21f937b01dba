/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * MapSymbols: the names of anonymous memory in perf maps, /tmp/perf-PID.map
 *
 * Runtimes with a JIT compiler write them; they have no times. A map that is older than its process
 * belongs to an earlier process with the same pid, and is not used; nor is a map of another user.
 * At most MAP_SYMBOLS_MAX_BYTES of a map are read.
 */

#include "symbols/symbol-table.h"

#include <stdio.h>

#define MAP_SYMBOLS_MAX_BYTES (UINT64_C(256) << 20)

typedef struct MapSymbols MapSymbols;

MapSymbols *map_symbols_new(void);
/* NULL is fine. */
void map_symbols_free(MapSymbols *symbols);

/* Adds the symbols of the map FILE to TABLE, which is not sorted. */
void map_symbols_read(FILE *file, SymbolTable *table);

/* The path of the map of process PID, valid as long as SYMBOLS. */
const char *map_symbols_path(MapSymbols *symbols, int32_t pid);
/* The symbol at ADDRESS of process PID, and its start; NULL: none. */
const char *map_symbols_find(MapSymbols *symbols, int32_t pid, uint64_t address,
                             uint64_t *ret_start);
