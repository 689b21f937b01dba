/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * RecorderSymbols: the names in a file of dotnet-trace collect-linux
 *
 * The recorder reads the perf map of a process once, at the end. Such a name has no time: in reused
 * memory it can be that of other code. Names are shown with RECORDER_MARK, except those of kernel
 * code, which does not change.
 *
 * Memory is bounded: names after RECORDER_MAX_SYMBOLS, or RECORDER_MAX_BYTES of text, are left out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORDER_MAX_SYMBOLS (4u << 20)
#define RECORDER_MAX_BYTES   ((size_t)256 << 20)

#define RECORDER_MARK " [by the recorder]"
/* The name of a frame for which the recorder has names of several methods. */
#define RECORDER_SEVERAL_NAME "[unknown: several names by the recorder]"

/* The process of kernel code. */
#define RECORDER_KERNEL 0

typedef struct RecorderSymbols RecorderSymbols;

RecorderSymbols *recorder_symbols_new(void);
/* NULL is fine. */
void recorder_symbols_free(RecorderSymbols *symbols);

/* Sets another limit than RECORDER_MAX_SYMBOLS. */
void recorder_symbols_limit(RecorderSymbols *symbols, uint64_t n);

/* Adds NAME, of N bytes, for the code from START to END (excluded) of process PID; the recorder
 * writes "TYPE [MODULE] METHOD[TIER]" for a method in a perf map. */
void recorder_symbols_add(RecorderSymbols *symbols, int32_t pid, uint64_t start, uint64_t end,
                          const char *name, size_t n);

typedef enum RecorderFound {
        RECORDER_NONE,
        RECORDER_ONE,     /* one name; several bodies of one method have one name */
        RECORDER_SEVERAL, /* names of different methods, of which any can be right */
} RecorderFound;

typedef struct RecorderName {
        const char *text;   /* for people; valid as long as the symbols */
        const char *module; /* NULL: not known */
        uint64_t start;
} RecorderName;

/* Finds the name of ADDRESS of process PID. RET is set with RECORDER_ONE and RECORDER_SEVERAL. */
RecorderFound recorder_symbols_find(RecorderSymbols *symbols, int32_t pid, uint64_t address,
                                    RecorderName *ret);

/* The number of names that were left out. */
uint64_t recorder_symbols_n_left_out(const RecorderSymbols *symbols);
