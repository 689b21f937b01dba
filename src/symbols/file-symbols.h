/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * FileSymbols: the names of native code in the mapped files of recorded processes
 *
 * A file is used if it is the mapped one, by the recorded build id, or else by device and inode. If
 * it lacks a full symbol table, the next sources are its debug file with the same build id, perf's
 * cache, and the symbols that the file exports, with the entries of its procedure linkage table.
 * Names of C++ and Rust are demangled.
 *
 * The recorded processes choose the files. So each process may cost FILE_SYMBOLS_MAX_WORK; beyond
 * that, nothing is read for it. Once FILE_SYMBOLS_MAX_BYTES are in memory, no more files are read.
 */

#include "perfdata/address-space.h"
#include "perfdata/perf-features.h"
#include "symbols/debug-files.h"

/* Maximum of bytes of tables that are read for a process. */
#define FILE_SYMBOLS_MAX_WORK (UINT64_C(512) << 20)
/* The cost of looking for a file, besides its tables. */
#define FILE_SYMBOLS_FILE_WORK (UINT64_C(64) << 10)
/* Bytes of memory. */
#define FILE_SYMBOLS_MAX_BYTES ((size_t)512 << 20)

typedef struct FileSymbols FileSymbols;

/* All are borrowed. */
FileSymbols *file_symbols_new(const AddressSpaces *spaces, const PerfFeatures *features,
                              const DebugFinder *debug);
/* NULL is fine. */
void file_symbols_free(FileSymbols *symbols);

/* The process for which most files were not read because of their cost; 0: none. */
int32_t file_symbols_costly_process(const FileSymbols *symbols);
/* The path of a file that was not found, because the recording has no build id of it and several
 * files were at that path; NULL: none. */
const char *file_symbols_twin(const FileSymbols *symbols);

/* The symbol at ADDRESS of MAPPING, and its start; NULL: none. The text is valid as long as
 * SYMBOLS. */
const char *file_symbols_find(FileSymbols *symbols, const SpaceMapping *mapping, uint64_t address,
                              uint64_t *ret_start);
