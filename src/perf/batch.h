/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Batch: samples that wait for the names of their managed frames
 *
 * One request names all frames of a batch. Output keeps the order of the samples.
 */

#include "clrsym/clrsym.h"
#include "perf/chain.h"
#include "perf/images.h"
#include "perf/mapping-kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_CPU (-1)

typedef enum EntryRole {
        ENTRY_FRAME,
        ENTRY_SURE_CALLER,   /* possible caller that OSR hides, from this sample's own stack */
        ENTRY_LIKELY_CALLER, /* the same, from other samples with the same slot and frame */
        ENTRY_UNKNOWN,       /* stands for a missing caller */
        ENTRY_DROPPED,       /* not printed */
} EntryRole;

/* The origin of a frame's name. */
typedef enum FrameSource {
        FRAME_SOURCE_SYMBOL,   /* a symbol table of native or kernel code, or none */
        FRAME_SOURCE_EVENT,    /* an event of the runtime */
        FRAME_SOURCE_STUB,     /* the same, for code that the runtime generates for calls */
        FRAME_SOURCE_IMAGE,    /* the tables of a precompiled image */
        FRAME_SOURCE_INLINED,  /* the JIT's report of inlined methods */
        FRAME_SOURCE_STACK,    /* a caller hidden by OSR, read from the copy of the stack */
        FRAME_SOURCE_SAMPLES,  /* a caller hidden by OSR, known from other samples */
        FRAME_SOURCE_RECORDER, /* the symbols of another recorder, which have no times */
        FRAME_SOURCE_SEVERAL,  /* the same, with several names: none is shown */
        FRAME_SOURCE_MARK,     /* no code: stands for missing frames */
        _FRAME_SOURCE_MAX,
} FrameSource;

typedef struct Entry {
        uint64_t ip;
        uint32_t frame;  /* perf's frame, until the batch is resolved */
        uint32_t offset; /* of the ip in the body; 0: no name */
        /* Methods inlined at the address, the innermost first; valid when the batch is resolved. */
        uint32_t n_inlined;
        size_t inlined; /* the first of them in the batch */
        EntryRole role;
        FrameSource source; /* valid when the batch is resolved */
        size_t caller;      /* number in the batch's callers, from 1, of a frame to print after this
                               entry; 0: none */
} Entry;

typedef struct BatchSample {
        int32_t pid, tid;
        int32_t cpu;   /* NO_CPU: not recorded */
        uint32_t comm; /* numbers of frames_text() */
        uint32_t event;
        bool has_chain;
        bool is_walked; /* the runtime walked the stack: all callers are there */
        bool has_begin; /* its last frame is where the thread begins, by call frame information */
        StackRoot cut;  /* by the chain's marks and length; STACK_WHOLE: not cut */
        uint64_t time, period;
        size_t first, n; /* the sample's entries, the leaf first */
} BatchSample;

/* An entry that may be a managed frame. */
typedef struct Ask {
        size_t entry, sample;
        uint64_t address;   /* in the instruction to name */
        size_t query;       /* the first of its queries */
        unsigned n_queries; /* 0: the process is unknown */
        int32_t pid;        /* in perf's pid namespace */
        MappingKind kind;
        ImageCode code; /* with a begin, as many queries about the begin follow */
        size_t at_ip;   /* a query for the ip itself (`address` is before it); 0: none */
} Ask;

typedef struct Batch {
        BatchSample *samples; /* all owned */
        Entry *entries;
        Ask *asks;
        clrsym_query *queries;
        clrsym_answer *answers; /* one for each query, while the batch is resolved */
        uint32_t *inlined;      /* numbers of frames */
        size_t n_samples, n_samples_size;
        size_t n_entries, n_entries_size;
        size_t n_asks, n_asks_size;
        size_t n_queries, n_queries_size;
        size_t n_answers_size;
        Entry *callers; /* owned */
        size_t n_inlined, n_inlined_size;
        size_t n_callers, n_callers_size;
        bool has_dropped; /* some entries have ENTRY_DROPPED */
} Batch;

void batch_deinit(Batch *batch);
/* Removes the samples; keeps the memory. */
void batch_clear(Batch *batch);
/* True if the batch should be resolved now. */
bool batch_is_full(const Batch *batch);

/* Appends a zeroed element. Valid until the next element of its kind; NULL: no memory. */
BatchSample *batch_add_sample(Batch *batch);
/* For the sample that was added last. */
Entry *batch_add_entry(Batch *batch);
/* For the entry that was added last. */
Ask *batch_add_ask(Batch *batch);
/* For the ask that was added last; the caller sets its n_queries. */
clrsym_query *batch_add_query(Batch *batch);

/* Appends an inlined method to ENTRY. False: no memory. */
bool batch_add_inlined(Batch *batch, Entry *entry, uint32_t frame);
/* Adds a frame after ENTRY and its inlined methods; valid until the next one. NULL: no memory. */
Entry *batch_add_caller(Batch *batch, Entry *entry);
/* Adds a frame after the last frame of SAMPLE, which must have a frame. */
Entry *batch_add_root(Batch *batch, const BatchSample *sample);
/* Inserts inlined methods and added callers, and removes dropped entries. False: no memory. */
bool batch_expand(Batch *batch);

/* Room for an answer to each query; NULL if there is no memory. */
clrsym_answer *batch_answers(Batch *batch);
