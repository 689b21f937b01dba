/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Counts: what became of the frames of a recording
 *
 * The filter counts, and reports at its end: a line "name number" each.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum Count {
        COUNT_SAMPLES,
        COUNT_OTHER_SAMPLES, /* of another event than the one wanted */
        COUNT_FRAMES,
        /* Frames in memory that the runtime jits into, and those of them that got a name. */
        COUNT_JITTED,
        COUNT_JITTED_NAMED,
        /* The same of precompiled images. */
        COUNT_IMAGE,
        COUNT_IMAGE_NAMED,
        /* Named ones that are nowhere that perf knows of. */
        COUNT_ELSEWHERE_NAMED,
        COUNT_MARKED, /* of the named: the name is not certain */
        /* Why the rest of those in jitted memory and images have no name. */
        COUNT_NO_PROCESS,
        COUNT_NO_METHOD,
        COUNT_UNLOADED,
        COUNT_NOT_YET,
        COUNT_AMBIGUOUS,
        COUNT_PENDING,
        COUNT_EVICTED,
        COUNT_CLOCK, /* the clock is not good enough to tell */
        _COUNT_MAX,
} Count;

typedef struct Counts {
        uint64_t n[_COUNT_MAX];
} Counts;

/* Its name in a report. Static. */
const char *count_name(Count count);

/* Takes a line of a report, without its end; false if it is none. */
bool counts_take_line(Counts *counts, const char *line);

uint64_t counts_managed(const Counts *counts);
uint64_t counts_named(const Counts *counts);

/*
 * Writes "5071 samples, 23344 managed frames: 99.93% named ..." into BUFFER of N bytes, like
 * snprintf().
 */
size_t counts_summary(const Counts *counts, char *buffer, size_t n);
