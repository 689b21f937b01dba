/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * RecorderSymbols: the names that a recorder wrote into its file: dotnet-trace collect-linux
 *
 * The recorder reads the perf map of a process once, at the end. Such a name has no time: in memory
 * that was used again it can be that of other code. Names are shown with RECORDER_MARK, but for
 * those of the kernel, whose code stays.
 *
 * Memory is bounded: names after RECORDER_MAX_SYMBOLS, or RECORDER_MAX_BYTES of text, are left out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDER_MAX_SYMBOLS (4u << 20)
#define RECORDER_MAX_BYTES   ((size_t)256 << 20)

#define RECORDER_MARK " [by the recorder]"
/* What is shown where the recorder has names of several methods. */
#define RECORDER_SEVERAL_NAME "[unknown: several names by the recorder]"

/* The process of kernel code. */
#define RECORDER_KERNEL 0

typedef struct RecorderSymbols RecorderSymbols;

RecorderSymbols *recorder_symbols_new(void);
/* NULL is fine. */
void recorder_symbols_free(RecorderSymbols *symbols);

/* Another limit than RECORDER_MAX_SYMBOLS. */
void recorder_symbols_limit(RecorderSymbols *symbols, uint64_t n);

/* Code from START to END, which is excluded, of process PID, has NAME, of N bytes, as the recorder
 * has it: a perf map's name of a method is "TYPE [MODULE] METHOD[TIER]". */
void recorder_symbols_add(RecorderSymbols *symbols, int32_t pid, uint64_t start, uint64_t end,
                          const char *name, size_t n);

typedef enum RecorderFound {
        RECORDER_NONE,
        RECORDER_ONE,     /* name; several bodies of one method have one name */
        RECORDER_SEVERAL, /* of different methods: the address does not tell which */
} RecorderFound;

typedef struct RecorderName {
        const char *text;   /* to be shown; lives as long as the symbols */
        const char *module; /* NULL: not known */
        uint64_t start;
} RecorderName;

/* What ADDRESS of process PID is called. RET is set with RECORDER_ONE and RECORDER_SEVERAL. */
RecorderFound recorder_symbols_find(RecorderSymbols *symbols, int32_t pid, uint64_t address,
                                    RecorderName *ret);

/* Names that were left out. */
uint64_t recorder_symbols_n_left_out(const RecorderSymbols *symbols);
