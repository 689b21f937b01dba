/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * KernelSymbols: the names of kernel code, of modules and of BPF programs of the recorded boot
 *
 * They come from /proc/kallsyms if the running kernel is the recorded one, at the same address;
 * from perf's cache, ~/.debug, if it has that kernel; or from the running kernel, moved, if it is
 * the same build at another address, without names of modules. KSYMBOL records have the names of
 * BPF programs.
 */

#include "perfdata/perf-data.h"
#include "symbols/symbol-table.h"

#include <stdio.h>

#define KERNEL_DSO "[kernel.kallsyms]"

typedef struct KernelSymbols KernelSymbols;

/* FEATURES is borrowed. Nothing is read before the first question. */
KernelSymbols *kernel_symbols_new(const PerfFeatures *features);
/* NULL is fine. */
void kernel_symbols_free(KernelSymbols *symbols);

/* Uses the symbols of FILE, in the form of /proc/kallsyms, instead of this machine's. */
void kernel_symbols_read(KernelSymbols *symbols, FILE *file);

/* Takes a record that is not a sample; ignores others than those of kernel code. */
void kernel_symbols_take(KernelSymbols *symbols, const struct perf_event_header *record);

/* The symbol at ADDRESS, and its start; NULL: none. RET_DSO: KERNEL_DSO, or the module or kind of
 * code, such as "[ext4]"; NULL: no known kernel code. Texts are valid as long as SYMBOLS. */
const char *kernel_symbols_find(KernelSymbols *symbols, uint64_t address, const char **ret_dso,
                                uint64_t *ret_start);
/* Why there are no names (static); NULL: there are names, or there was no question. */
const char *kernel_symbols_reason(const KernelSymbols *symbols);
