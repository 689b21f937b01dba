/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * StackWalk: the callers that copies of stacks have
 *
 * A sample of perf record --call-graph dwarf has no callers, but a copy of the stack. The callers
 * are found by call frame information where a file has it, by the machine code of .NET methods, and
 * by frame pointers elsewhere. Where the code of methods is known, chains by frame pointers get
 * marks (perf/stack-roots.h) where they hide a caller.
 *
 * In the order of calls: new, note for each sample of the recording, begin, sample for each sample.
 */

#include "perf/osr-callers.h"
#include "perfdata/perf-data.h"
#include "perfdata/perf-sample.h"
#include "unwind/call-frames.h"
#include "unwind/method-finder.h"
#include "unwind/registers.h"

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct StackCounts {
        uint64_t n_samples; /* with a copy of the stack */
        uint64_t n_cut;     /* the copy ends before the callers do */
        uint64_t n_missing; /* with frames of a file that is not there, or is another one now */
        char *missing;      /* owned: the path of that with most such frames; NULL: none */
        uint64_t n_spent;   /* of processes whose files cost too much to be read */
        char *spent;        /* owned: the process with most such frames; NULL: none */
        bool is_aside;      /* other events have no copies: their samples are those of interest */
        uint64_t n_hidden;  /* callers that frames can hide */
        uint64_t n_hidden_left; /* more of them, which were too many */
} StackCounts;

void stack_counts_deinit(StackCounts *counts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StackCounts, stack_counts_deinit)

/* Somebody who wants the registers of the frames, too. */
typedef struct FrameTaker {
        /*
         * A frame of thread TID, in the order of the walk; ADDRESS as the chain has it. No frame
         * comes after one whose caller is a guess. IS_HIDDEN: one that the next frame may stand
         * for, see perf/osr-callers.h.
         */
        void (*take)(void *data, int32_t tid, uint64_t address, const Registers *registers,
                     bool is_hidden);
        void *data;
} FrameTaker;

/* Sources besides the recording and the mapped files; all borrowed. */
typedef struct StackSources {
        const MethodFinder *methods; /* NULL: the code of compiled methods is not known */
        const DebugFinder *debug;    /* NULL: no debug files are to be used */
        const FrameTaker *frames;    /* NULL: nobody wants them */
        const StackMemory *memory;   /* NULL: stacks are as deep as their copies */
} StackSources;

/* Frames of a stack: without memory besides the copies, as many as perf's own limit for stacks by
 * frame pointers is at most set to; with it, more. */
#define STACK_WALK_MAX_FRAMES 1024u
#define STACK_WALK_MAX_DEEP   (1u << 18)
/* Frames of all stacks together, besides the first STACK_WALK_MAX_FRAMES of each. */
#define STACK_WALK_MAX_TOTAL (1u << 22)

/* The machine of a recording; NULL: callers are not found in its copies of stacks. FEATURES may be
 * NULL: this machine. */
const Machine *stack_walk_machine(const PerfFeatures *features);
/* Has DATA copies of stacks? False with ERROR set: it has, of a machine that is not known. */
bool stack_walk_check(const PerfData *data, bool *ret_has_copies, GError **error);

typedef struct StackWalk StackWalk;

/* All are borrowed. */
StackWalk *stack_walk_new(PerfData *data, AddressSpaces *spaces, const StackSources *sources);
/* NULL is fine. */
void stack_walk_free(StackWalk *walk);

/* Takes a sample that has just been read from the recording. */
void stack_walk_note(StackWalk *walk, const PerfAttr *event, const struct perf_event_header *record,
                     const PerfSample *sample);
/* After the last note, and before the first sample. */
void stack_walk_begin(StackWalk *walk);

typedef enum StackWalkResult {
        WALK_UNCHANGED, /* the sample's own chain is right */
        WALK_CHAIN,     /* it has another chain */
        WALK_DROPPED,   /* the sample is a copy that belongs to another one */
} StackWalkResult;

/* The chain of SAMPLE, its leaf first, as the kernel records chains; valid until the next call. */
StackWalkResult stack_walk_sample(StackWalk *walk, const PerfAttr *event,
                                  const struct perf_event_header *record, const PerfSample *sample,
                                  const uint64_t **ret_chain, size_t *ret_n);
/* perf's limit of frames for samples of EVENT; a chain that is cut has a mark if there is none. */
unsigned stack_walk_max_frames(const StackWalk *walk, const PerfAttr *event);

/* The callers that frames can hide, N of them. */
const OsrCaller *stack_walk_hidden(const StackWalk *walk, size_t *ret_n);
/* What was found so far; to be deinitialized. */
void stack_walk_count(const StackWalk *walk, StackCounts *ret_counts);
