/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Empty symbols: those without a size, which perf extends to the next one
 *
 * Assembler need not give a size. Such a symbol names its first address only: what follows can be
 * the code of functions that the file has no symbols for.
 */

#include "perf/hash-index.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* So many files are looked at, and so many names are remembered. */
#define EMPTY_FILES_MAX 256u
#define EMPTY_NAMES_MAX (1u << 16)

typedef struct EmptySymbols {
        char **files;            /* owned, and each: paths that were looked at */
        struct EmptyName *names; /* owned */
        uint32_t n_files, n_names;
        HashIndex index; /* of the names */
} EmptySymbols;

void empty_symbols_deinit(EmptySymbols *symbols);
/* Has SYMBOL, as perf names it, no size in the file at the path DSO? False also if the file is not
 * to be had. */
bool empty_symbols_have(EmptySymbols *symbols, const char *dso, const char *symbol);
