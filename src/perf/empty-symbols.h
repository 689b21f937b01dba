/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Empty symbols: symbols of size 0, which perf extends to the next symbol
 *
 * Assembly code need not give a size. Such a symbol names its first address only: the following
 * code can be of functions without symbols.
 */

#include "perf/hash-index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Limits: files that are read, and names that are kept. */
#define EMPTY_FILES_MAX 256u
#define EMPTY_NAMES_MAX (1u << 16)

typedef struct EmptySymbols {
        char **files;            /* owned array of owned texts: paths of the read files */
        struct EmptyName *names; /* owned */
        uint32_t n_files, n_names;
        HashIndex index; /* by name */
} EmptySymbols;

void empty_symbols_deinit(EmptySymbols *symbols);
/* True if SYMBOL, as perf spells it, has size 0 in file DSO. False also if DSO is not readable. */
bool empty_symbols_have(EmptySymbols *symbols, const char *dso, const char *symbol);
