/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * FileSymbols: the names of native code in the mapped files of recorded processes
 *
 * A file is used if it is the mapped one: by the build id of its mapping; or else by device, inode,
 * generation and the time of its last change, and perf's build id of its path. If it lacks a full
 * symbol table, the next sources are its debug file with the same build id, perf's cache, and the
 * symbols that the file exports, with the entries of its procedure linkage table. Names of C++ and
 * Rust are demangled.
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

/* Why code of a file has no names. */
typedef enum FileReason {
        FILE_FOUND,   /* the file was read; or it costs too much */
        FILE_GONE,    /* no file is the mapped one, or it cannot be read */
        FILE_TWIN,    /* the same; and other files were mapped at its path */
        FILE_CHANGED, /* the file was changed after it was mapped */
} FileReason;

/* All are borrowed. */
FileSymbols *file_symbols_new(const AddressSpaces *spaces, const PerfFeatures *features,
                              const DebugFinder *debug);
/* NULL is fine. */
void file_symbols_free(FileSymbols *symbols);

/* The recording was made on this machine since its last boot: inodes identify files. Without this
 * call, it was not. */
void file_symbols_set_boot(FileSymbols *symbols, bool is_of_this_boot);

/* The process for which most files were not read because of their cost; 0: none. */
int32_t file_symbols_costly_process(const FileSymbols *symbols);
/* The file of which most code has no names; NULL: none. */
const MappedFile *file_symbols_missing(const FileSymbols *symbols, FileReason *ret_reason);

/* The symbol at ADDRESS of MAPPING, and its start; NULL: none. The text is valid as long as
 * SYMBOLS. */
const char *file_symbols_find(FileSymbols *symbols, const SpaceMapping *mapping, uint64_t address,
                              uint64_t *ret_start);
