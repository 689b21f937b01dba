/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * FileSymbols: the names of native code in the files that recorded processes had mapped
 *
 * A file is used if it is the file that was mapped: by the build id that perf recorded, or else by
 * device and inode. If it lacks a table of all symbols, its debug file is used, which has the same
 * build id, or perf's cache; then the symbols that the file exports, with the entries of its
 * procedure linkage table. Names of C++ and Rust are demangled.
 *
 * The recorded processes choose the files. So each process may cost as much as
 * FILE_SYMBOLS_MAX_WORK; then nothing more is read for it. Once FILE_SYMBOLS_MAX_BYTES are in
 * memory, no more files are read.
 */

#include "perfdata/address-space.h"
#include "perfdata/perf-features.h"
#include "symbols/debug-files.h"

/* Bytes of tables that are read for a process. */
#define FILE_SYMBOLS_MAX_WORK (UINT64_C(512) << 20)
/* What to look for a file costs, besides these. */
#define FILE_SYMBOLS_FILE_WORK (UINT64_C(64) << 10)
/* Bytes of memory. */
#define FILE_SYMBOLS_MAX_BYTES ((size_t)512 << 20)

typedef struct FileSymbols FileSymbols;

/* All are borrowed. */
FileSymbols *file_symbols_new(const AddressSpaces *spaces, const PerfFeatures *features,
                              const DebugFinder *debug);
/* NULL is fine. */
void file_symbols_free(FileSymbols *symbols);

/* The process for which most files were not read, because of what they cost; 0: none. */
int32_t file_symbols_costly_process(const FileSymbols *symbols);

/*
 * The symbol at ADDRESS of MAPPING, and the address at which it begins; NULL: none is known. The
 * text lives as long as SYMBOLS.
 */
const char *file_symbols_find(FileSymbols *symbols, const SpaceMapping *mapping, uint64_t address,
                              uint64_t *ret_start);
