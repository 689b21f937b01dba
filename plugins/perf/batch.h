/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Batch: samples that wait for the names of their managed frames
 *
 * They are asked for together, and printed in the order they came.
 */

#include "clrsym/clrsym.h"
#include "images.h"
#include "place.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_CPU (-1)

typedef struct Entry {
        uint64_t ip;
        uint32_t frame;  /* until it is asked about, what perf has */
        uint32_t offset; /* of the ip in what the frame names; 0 if it has no name */
} Entry;

typedef struct Sample {
        int32_t pid, tid;
        int32_t cpu;   /* NO_CPU: not recorded */
        uint32_t comm; /* numbers of frames_text() */
        uint32_t event;
        bool has_chain;
        uint64_t time, period;
        size_t first, n; /* its entries, the leaf first */
} Sample;

/* An entry that may be a managed frame. */
typedef struct Ask {
        size_t entry;
        uint64_t address;   /* in it */
        size_t query;       /* the first one of those about it */
        unsigned n_queries; /* 0: there is no process to ask about */
        Place place;
        ImageCode code; /* with a begin: as many queries more, about that */
} Ask;

typedef struct Batch {
        Sample *samples; /* all owned */
        Entry *entries;
        Ask *asks;
        clrsym_query *queries;
        clrsym_answer *answers; /* as many as queries, when they are asked for */
        size_t n_samples, n_samples_size;
        size_t n_entries, n_entries_size;
        size_t n_asks, n_asks_size;
        size_t n_queries, n_queries_size;
        size_t n_answers_size;
} Batch;

void batch_deinit(Batch *batch);
/* Forgets the samples, not the memory. */
void batch_clear(Batch *batch);
/* Is it worth a question? */
bool batch_is_full(const Batch *batch);

/* What is added is zero; NULL if there is no memory. Valid until the next one of its kind. */
Sample *batch_add_sample(Batch *batch);
/* Of the sample that was added last. */
Entry *batch_add_entry(Batch *batch);
/* About the entry that was added last. */
Ask *batch_add_ask(Batch *batch);
/* About the ask that was added last, which counts them itself. */
clrsym_query *batch_add_query(Batch *batch);

/* Room for an answer to each query; NULL if there is no memory. */
clrsym_answer *batch_answers(Batch *batch);
