/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Summary: what was named of a recording, what was not, and what to do about that
 */

#include "cli/options.h"
#include "cli/perf-recording.h"
#include "perf/counts.h"

typedef struct PerfSummary {
        const Options *options;
        const Recording *recording;
        const char *input;
        const Counts *counts;
        bool has_images;  /* this machine's files can be those of the recording */
        bool is_collect;  /* by dotnet-trace collect-linux */
        bool is_nettrace; /* the samples are those of the runtime */
        bool is_over;     /* no more events come */
        /* Samples of methods that continue after an await: with those that await them; without */
        uint64_t n_joined, n_apart;
        uint64_t n_waits;           /* samples of threads that lost their CPU */
        uint64_t n_uncertain_waits; /* of these: without the time of the wait */
} PerfSummary;

/* Prints lines on stderr. */
void perf_summary_print(const PerfSummary *summary);
