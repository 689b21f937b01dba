/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * KernelSymbols: the names of kernel code, its modules and its BPF programs, of the boot that was
 * recorded
 *
 * They are those of /proc/kallsyms if the running kernel is the recorded one, at the same address;
 * of perf's cache, ~/.debug, if it has that kernel's; and those of the running kernel, moved, if it
 * is the same build and was loaded elsewhere: then without those of modules. KSYMBOL records have
 * the names of BPF programs.
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

/* Takes the symbols of FILE, as /proc/kallsyms has them, instead of those of this machine. */
void kernel_symbols_read(KernelSymbols *symbols, FILE *file);

/* Takes a record that is not a sample; others than those of kernel code are ignored. */
void kernel_symbols_take(KernelSymbols *symbols, const struct perf_event_header *record);

/*
 * The symbol at ADDRESS, and where it begins; NULL: none is known. RET_DSO: KERNEL_DSO, or the
 * module or kind of code, "[ext4]" say; NULL: no kernel code is known there. Texts live as long as
 * SYMBOLS.
 */
const char *kernel_symbols_find(KernelSymbols *symbols, uint64_t address, const char **ret_dso,
                                uint64_t *ret_start);
/* Why there are no names (static); NULL: there are, or nothing was asked. */
const char *kernel_symbols_reason(const KernelSymbols *symbols);
