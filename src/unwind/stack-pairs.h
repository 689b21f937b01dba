/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * StackPairs: joins the samples of two events
 *
 * Two events have one clock and one frequency. One has the callers by frame pointers, the other a
 * copy of the stack near the leaf, where code without frame pointers is.
 *
 * At first, each CPU takes a sample of both in one interrupt. But the kernel stops and starts the
 * two timers one after the other at each switch of threads, so they drift apart. Then both samples
 * are true, each for its moment, and the copy takes the place of the other sample.
 */

#include "perfdata/perf-data.h"
#include "perfdata/perf-sample.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * Maximum of ns between two samples of one interrupt. They were 7 us apart, in one of a hundred
 * pairs 22; beyond 50 us, few had the same leaf.
 */
#define STACK_PAIR_ONE_MOMENT 50000u
/* Maximum of ns between a sample and the copy that takes its place; less at high frequencies. */
#define STACK_PAIR_APART 10000000u
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
        uint64_t apart;         /* ns: maximum of a sample and its copy, half of the period */
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

/* True if SAMPLE, with the leaf LEAF, and COPY, with PC, are of one moment. */
bool stack_pair_is_one_moment(const PerfSample *sample, uint64_t leaf, const PerfSample *copy,
                              uint64_t pc);

/*
 * Appends addresses of CHAIN (N_CHAIN) to the N addresses of CALLERS from a copy of the stack, the
 * leaf first: those that are farther from the leaf than the last common address. Returns the new
 * number of CALLERS, at most MAX, and sets the place of the last common address. Without a common
 * address other than the leaf, both are N.
 */
size_t stack_pair_merge(uint64_t *callers, size_t n, size_t max, const uint64_t *chain,
                        size_t n_chain, size_t *ret_last);
