/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * StackPairs: joins samples of two events that were taken at one moment
 *
 * Of two events with one clock and one frequency, each CPU takes a sample of both in one interrupt.
 * One has the callers by frame pointers, the other a copy of the stack near the leaf, where code
 * without frame pointers is. Together they have the whole stack.
 */

#include "perfdata/perf-data.h"
#include "perfdata/perf-sample.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Maximum of ns between the two samples. They were 7 us apart, in one of a hundred pairs 22. */
#define STACK_PAIR_DISTANCE 300000u
/* Maximum of pairs; later stacks have only frame pointers. */
#define STACK_PAIRS_MAX (1u << 22)

/* True if these are the attributes of two such events, the second one with copies of stacks. */
bool stack_pairs_are(const struct perf_event_attr *chains, const struct perf_event_attr *copies);

/* A sample with a copy of the stack. */
typedef struct StackPair {
        uint64_t time;   /* ns of perf's clock */
        uint64_t offset; /* offset of its record in the file */
        int32_t tid;
} StackPair;

typedef struct StackPairs {
        PerfData *data;         /* borrowed; NULL: the pairs have no samples to read */
        const PerfAttr *chains; /* the event to whose samples copies belong; NULL: none */
        const PerfAttr *copies; /* the event of these copies; NULL without CHAINS */
        GArray *rows;           /* owned, of StackPair */
        bool is_sorted;
        uint64_t record[PERF_MAX_RECORD_WORDS]; /* the copy that was read last */
} StackPairs;

/* Finds the two events of DATA, which is borrowed; NULL: there are none. */
void stack_pairs_init(StackPairs *pairs, PerfData *data);
void stack_pairs_deinit(StackPairs *pairs);
void stack_pairs_add(StackPairs *pairs, const StackPair *row);
/* Takes a sample that has just been read, if it is a copy. */
void stack_pairs_note(StackPairs *pairs, const PerfAttr *event,
                      const struct perf_event_header *record, const PerfSample *sample);
/* After the last note, and before the first read. */
void stack_pairs_begin(StackPairs *pairs);
/* The sample of thread TID that is nearest to TIME; NULL: none is near enough. */
const StackPair *stack_pairs_find(StackPairs *pairs, int32_t tid, uint64_t time);
/* Reads the copy that is nearest to SAMPLE, of the event CHAINS; its members are valid until the
 * next call. False: there is none. */
bool stack_pairs_read(StackPairs *pairs, const PerfSample *sample, PerfSample *ret_copy);

/*
 * Appends addresses of CHAIN (N_CHAIN) to the N addresses of CALLERS from a copy of the stack, the
 * leaf first: those that are farther from the leaf than the last common address. Returns the new
 * number of CALLERS, at most MAX, and sets the place of the last common address. Without a common
 * address other than the leaf, both are N.
 */
size_t stack_pair_merge(uint64_t *callers, size_t n, size_t max, const uint64_t *chain,
                        size_t n_chain, size_t *ret_last);
