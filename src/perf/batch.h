/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Batch: samples that wait for the names of their managed frames
 *
 * They are asked for together, and printed in their order.
 */

#include "clrsym/clrsym.h"
#include "perf/images.h"
#include "perf/mapping-kind.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NO_CPU (-1)

typedef enum EntryRole {
        ENTRY_FRAME,
        ENTRY_SURE_CALLER,   /* may be the caller that the frame before it hides: of this sample */
        ENTRY_LIKELY_CALLER, /* the same: of other samples with the same frames */
        ENTRY_UNKNOWN,       /* a caller that is missing: a frame that shows that */
        ENTRY_DROPPED,       /* is not printed */
} EntryRole;

/* Where the name of a frame comes from. */
typedef enum FrameSource {
        FRAME_SOURCE_SYMBOL,  /* a table of symbols, of native code or the kernel; or it has no name
                               */
        FRAME_SOURCE_EVENT,   /* an event of the runtime */
        FRAME_SOURCE_STUB,    /* the same, of code that the runtime made for calls */
        FRAME_SOURCE_IMAGE,   /* the tables of a precompiled image */
        FRAME_SOURCE_INLINED, /* the JIT's report of what it inlined there */
        FRAME_SOURCE_STACK,   /* a caller that OSR hides, found in the copy of the stack */
        FRAME_SOURCE_SAMPLES, /* a caller that OSR hides, as other samples have it */
        FRAME_SOURCE_RECORDER, /* the file of another recorder, whose names have no time */
        FRAME_SOURCE_SEVERAL,  /* the same, which has several names: none is shown */
        FRAME_SOURCE_MARK,     /* the frame is not code: it stands for frames that are missing */
        _FRAME_SOURCE_MAX,
} FrameSource;

typedef struct Entry {
        uint64_t ip;
        uint32_t frame;  /* perf's name for it, until the batch is resolved */
        uint32_t offset; /* of the ip in the body; 0 without a name */
        /* The methods inlined there, from the innermost one on, once it is resolved. */
        uint32_t n_inlined;
        size_t inlined; /* the first of them in the batch */
        EntryRole role;
        FrameSource source; /* once it is resolved */
        size_t caller; /* a frame to be printed after it, that perf does not have: its number in
                        * the batch's callers, from 1; 0: none */
} Entry;

/* What a stack begins with, see perf/stack-roots.h. */
typedef enum StackRoot {
        STACK_WHOLE,
        STACK_CUT_FRAMES, /* perf records so many frames and no more */
        STACK_CUT_COPY,   /* the copy of the stack ends before the callers do */
        STACK_TORN,       /* no managed caller, in a thread that has managed frames */
        _STACK_ROOT_MAX,
} StackRoot;

typedef struct BatchSample {
        int32_t pid, tid;
        int32_t cpu;   /* NO_CPU: not recorded */
        uint32_t comm; /* numbers of frames_text() */
        uint32_t event;
        bool has_chain;
        bool is_walked; /* the runtime itself found the callers: they are whole, mapped or not */
        bool has_begin; /* its last frame is where the thread begins, by call frame information */
        StackRoot cut;  /* by perf, or whole as far as perf is concerned */
        uint64_t time, period;
        size_t first, n; /* the sample's entries, the leaf first */
} BatchSample;

/* An entry that may be a managed frame. */
typedef struct Ask {
        size_t entry, sample;
        uint64_t address;   /* in the code to be named */
        size_t query;       /* the first of its queries */
        unsigned n_queries; /* 0: the process is unknown */
        int32_t pid;        /* as perf has it */
        MappingKind kind;
        ImageCode code; /* with a begin: as many queries more, for the begin */
        size_t at_ip;   /* a query for the address itself, of which `address` is before; 0: none */
} Ask;

typedef struct Batch {
        BatchSample *samples; /* all owned */
        Entry *entries;
        Ask *asks;
        clrsym_query *queries;
        clrsym_answer *answers; /* as many as queries, while they are resolved */
        uint32_t *inlined;      /* frames */
        size_t n_samples, n_samples_size;
        size_t n_entries, n_entries_size;
        size_t n_asks, n_asks_size;
        size_t n_queries, n_queries_size;
        size_t n_answers_size;
        Entry *callers; /* owned */
        size_t n_inlined, n_inlined_size;
        size_t n_callers, n_callers_size;
        bool has_dropped; /* entries */
} Batch;

void batch_deinit(Batch *batch);
/* Removes the samples; keeps the memory. */
void batch_clear(Batch *batch);
/* Should it be resolved now? */
bool batch_is_full(const Batch *batch);

/* New elements are zero; NULL if there is no memory. Valid until the next one of its kind. */
BatchSample *batch_add_sample(Batch *batch);
/* For the sample that was added last. */
Entry *batch_add_entry(Batch *batch);
/* For the entry that was added last. */
Ask *batch_add_ask(Batch *batch);
/* For the ask that was added last, which counts its queries. */
clrsym_query *batch_add_query(Batch *batch);

/* For an entry, after those of its own that were added. */
bool batch_add_inlined(Batch *batch, Entry *entry, uint32_t frame);
/* A frame after ENTRY, after what is inlined in it; valid until the next one. NULL: no memory. */
Entry *batch_add_caller(Batch *batch, Entry *entry);
/* The same after the last frame of SAMPLE, which has frames. */
Entry *batch_add_root(Batch *batch, const BatchSample *sample);
/* Makes entries of the inlined methods, and removes those that are dropped. False if there is no
 * memory. */
bool batch_expand(Batch *batch);

/* Room for an answer to each query; NULL if there is no memory. */
clrsym_answer *batch_answers(Batch *batch);
