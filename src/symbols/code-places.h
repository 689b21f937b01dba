/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * CodePlaces: the file and the symbol at an address of a recorded process
 *
 * The sources, in this order: KernelSymbols for kernel code, MapSymbols for anonymous memory,
 * FileSymbols for files. Other code than native code has a file and no symbol.
 */

#include "perf/chain-namer.h"
#include "perfdata/address-space.h"
#include "symbols/file-symbols.h"
#include "symbols/kernel-symbols.h"
#include "symbols/recorder-symbols.h"

typedef struct CodePlaces CodePlaces;

/* All are borrowed. */
CodePlaces *code_places_new(AddressSpaces *spaces, const PerfFeatures *features,
                            KernelSymbols *kernel, const DebugFinder *debug);
/* SYMBOLS, borrowed, name jitted code instead of perf maps, and other code without a name. */
void code_places_set_recorder(CodePlaces *places, RecorderSymbols *symbols);
/* As file_symbols_set_boot(). */
void code_places_set_boot(CodePlaces *places, bool is_of_this_boot);
/* NULL is fine. */
void code_places_free(CodePlaces *places);

/* Sets the file and symbol at ADDRESS of process PID at TIME. False: no mapping is known there. */
bool code_places_find(CodePlaces *places, int32_t pid, uint64_t time, uint64_t address,
                      bool is_user, CodePlace *ret);
/* The process whose native code can lack names, because its files are too large; 0: none. */
int32_t code_places_costly_process(const CodePlaces *places);
/* As file_symbols_missing(). */
const MappedFile *code_places_missing(const CodePlaces *places, FileReason *ret_reason);
/* The file only; NULL: no mapping is known there. */
const char *code_places_find_dso(CodePlaces *places, int32_t pid, uint64_t time, uint64_t address);
