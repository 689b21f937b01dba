/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Summary: named and unnamed parts of a recording, and advice
 */

#include "cli/options.h"
#include "cli/perf-recording.h"
#include "perf/counts.h"
#include "symbols/code-places.h"

typedef struct PerfSummary {
        const Options *options;
        const Recording *recording;
        const char *input;
        const Counts *counts;
        const AddressSpaces *spaces;
        const CodePlaces *places;    /* NULL: without native code */
        const KernelSymbols *kernel; /* NULL: without kernel code */
        bool has_images;             /* this machine's files can be those of the recording */
        bool is_collect;             /* by dotnet-trace collect-linux */
        bool is_nettrace;            /* the samples are those of the runtime */
        bool is_over;                /* no more events come */
        bool has_code;               /* the code of methods was read, or a note gives the reason */
        /* Samples of continued methods, with their awaiting methods; without them */
        uint64_t n_joined, n_apart;
        uint64_t n_waits;           /* samples of threads that lost their CPU */
        uint64_t n_uncertain_waits; /* those without the time of the wait */
} PerfSummary;

/* Prints a line on stderr, if managed frames have no name. */
void perf_summary_print_unnamed(const Counts *counts);
/* Prints lines on stderr. */
void perf_summary_print(const PerfSummary *summary);
