/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Counts: named frames of a recording, and the reasons of unnamed ones
 *
 * perf's filter can report a line "name number" for each count.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum Count {
        COUNT_SAMPLES,
        COUNT_OTHER_SAMPLES, /* samples of unwanted events */
        /* Samples with user code of processes outside of perf's pid namespace, so without a pid. */
        COUNT_OUTSIDE,
        COUNT_FRAMES,
        COUNT_RUNTIME_UNNAMED, /* frames of the runtime's own libraries without a symbol */
        /* Frames in memory with jitted code, and the named ones of them. */
        COUNT_JITTED,
        COUNT_JITTED_NAMED,
        /* The same for precompiled images. */
        COUNT_IMAGE,
        COUNT_IMAGE_NAMED,
        /* Named frames for which perf has no mapping. */
        COUNT_ELSEWHERE_NAMED,
        /* Frames that the runtime reports as managed and that have no name. */
        COUNT_MANAGED_UNNAMED,
        COUNT_MARKED,         /* of the named ones: the name is not certain */
        COUNT_MARKED_GAP,     /* of the marked ones: events of that time are missing */
        COUNT_MARKED_PENDING, /* of the marked ones: more events of that time may come */
        /*
         * Callers that OSR hides (perf/osr-callers.h); of them, callers from the sample's own
         * stack, and callers known from other samples.
         */
        COUNT_OSR_CALLERS,
        COUNT_OSR_SURE,
        COUNT_OSR_LIKELY,
        COUNT_HIDDEN_CALLERS, /* missing callers (STACK_HIDDEN_MARK) */
        /* Reasons of unnamed frames in jitted memory and images. */
        COUNT_NO_PROCESS,
        COUNT_NO_METHOD,
        COUNT_UNLOADED,
        COUNT_NOT_YET,
        COUNT_AMBIGUOUS,
        COUNT_PENDING,
        COUNT_EVICTED,
        COUNT_CLOCK,    /* the clock is not exact enough to decide */
        COUNT_RECORDER, /* only the recorder has a name: FRAME_SOURCE_RECORDER */
        COUNT_SEVERAL,  /* the recorder has several names */
        /* Samples with a callchain, in the order of StackRoot. */
        COUNT_STACK_WHOLE,
        COUNT_STACK_CUT_FRAMES,
        COUNT_STACK_CUT_COPY,
        COUNT_STACK_TORN,
        /* If lines are wanted: named frames, in the order of clrsym_line_status. */
        COUNT_LINE_FOUND,
        COUNT_LINE_NO_METHOD,
        COUNT_LINE_NO_MODULE,
        COUNT_LINE_NO_IL,
        COUNT_LINE_OTHER_IL,
        COUNT_LINE_NO_PDB,
        COUNT_LINE_PDB_MISSING,
        COUNT_LINE_PDB_OTHER,
        COUNT_LINE_PDB_WINDOWS,
        COUNT_LINE_PDB_DAMAGED,
        COUNT_LINE_NONE,
        COUNT_LINE_TOO_MUCH,
        _COUNT_MAX,
} Count;

typedef struct Counts {
        uint64_t n[_COUNT_MAX];
} Counts;

/* The name of the count in a report. Static. */
const char *count_name(Count count);

uint64_t counts_managed(const Counts *counts);
uint64_t counts_named(const Counts *counts);

/*
 * Writes "5071 samples, 23344 managed frames: 99.93% named ..." into BUFFER of N bytes, like
 * snprintf().
 */
size_t counts_summary(const Counts *counts, char *buffer, size_t n);
/* The same for unnamed frames: "3 of 120 managed frames have no name: 2 of unknown processes, 1
 * unknown"; returns 0 if there are none. */
size_t counts_summary_unnamed(const Counts *counts, char *buffer, size_t n);
/*
 * The same for lines: "1858 of 5071 named frames have a source line; without one: 3000 whose ...".
 */
size_t counts_summary_lines(const Counts *counts, char *buffer, size_t n);
/* The same for stacks: "98.7 % whole, 0.9 % cut at 127 frames, 0.4 % without a managed caller". */
size_t counts_summary_stacks(const Counts *counts, char *buffer, size_t n);
