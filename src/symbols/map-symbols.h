/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * MapSymbols: the names of anonymous memory in perf maps, /tmp/perf-PID.map
 *
 * Runtimes with a JIT compiler write them; they have no times. A map that is older than the process
 * is that of an earlier process with the same pid, and is not used; nor is a map of another user.
 * MAP_SYMBOLS_MAX_BYTES are read of one.
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

/* The path of the map of process PID, as long as SYMBOLS lives. */
const char *map_symbols_path(MapSymbols *symbols, int32_t pid);
/* The symbol at ADDRESS of process PID, and where it begins; NULL: none is known. */
const char *map_symbols_find(MapSymbols *symbols, int32_t pid, uint64_t address,
                             uint64_t *ret_start);
