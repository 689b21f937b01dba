/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * StackWalk: finds the callers in copies of stacks
 *
 * A sample of perf record --call-graph dwarf has no callers, but a copy of the stack. The callers
 * are found by call frame information of files, by the machine code of .NET methods, and by frame
 * pointers elsewhere. If the code of methods is known, chains by frame pointers get marks
 * (perf/chain.h) at hidden callers.
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
        uint64_t n_cut;     /* with a copy that is too short */
        uint64_t n_missing; /* with frames of a file that is missing, or is another one now */
        char *missing;      /* owned: the path of the file with most such frames; NULL: none */
        uint64_t n_spent;   /* of processes whose files cost too much */
        char *spent;        /* owned: the process with most such frames; NULL: none */
        uint64_t n_chains;  /* samples with and without a copy */
        uint64_t n_unread;  /* of them, with frames of compiled code that could not be read */
        char *unread;       /* owned: the first process with such frames; NULL: none */
        bool is_aside;      /* the samples of interest are those of other events, without copies */
        uint64_t n_hidden;  /* callers that frames can hide */
        uint64_t n_hidden_left; /* further ones, which were too many */
} StackCounts;

void stack_counts_deinit(StackCounts *counts);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StackCounts, stack_counts_deinit)

/* Gets the registers of the frames, too. */
typedef struct FrameTaker {
        /*
         * A frame of thread TID, in the order of the walk; ADDRESS as in the chain. No frame
         * follows one whose caller is a guess. IS_HIDDEN: a caller that the next frame may hide,
         * see perf/osr-callers.h.
         */
        void (*take)(void *data, int32_t tid, uint64_t address, const Registers *registers,
                     bool is_hidden);
        void *data;
} FrameTaker;

/* Sources besides the recording and the mapped files; all borrowed. */
typedef struct StackSources {
        const MethodFinder *methods; /* NULL: the code of compiled methods is not known */
        const DebugFinder *debug;    /* NULL: no debug files are used */
        const FrameTaker *frames;    /* NULL: registers are not wanted */
        const StackMemory *memory;   /* NULL: stacks are known up to the end of their copies */
} StackSources;

/* Frames of a stack, the largest setting of perf's limit for frame pointers; with other memory than
 * the copies, stacks can have more. */
#define STACK_WALK_MAX_FRAMES 1024u
#define STACK_WALK_MAX_DEEP   (1u << 18)
/* Frames of all stacks together, besides the first STACK_WALK_MAX_FRAMES of each. */
#define STACK_WALK_MAX_TOTAL (1u << 22)

/* The machine of a recording; NULL: callers cannot be found in its copies of stacks. FEATURES may
 * be NULL: this machine. */
const Machine *stack_walk_machine(const PerfFeatures *features);
/* Finds out whether DATA has copies of stacks. False with ERROR set: they are of an unknown
 * machine. */
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
        WALK_UNCHANGED, /* perf's chain is right */
        WALK_CHAIN,     /* another chain */
        WALK_DROPPED,   /* the sample is the copy for another sample */
} StackWalkResult;

/*
 * The chain of SAMPLE, the leaf first, in the kernel's form; valid until the next call. If a copy
 * takes the place of SAMPLE, its time and its address are those of the copy.
 */
StackWalkResult stack_walk_sample(StackWalk *walk, const PerfAttr *event, PerfSample *sample,
                                  const uint64_t **ret_chain, size_t *ret_n);
/* perf's limit of frames for samples of EVENT; without one, a truncated chain has a mark. */
unsigned stack_walk_max_frames(const StackWalk *walk, const PerfAttr *event);

/* The N callers that frames can hide. */
const OsrCaller *stack_walk_hidden(const StackWalk *walk, size_t *ret_n);
/* The counters so far; to be deinitialized. */
void stack_walk_count(const StackWalk *walk, StackCounts *ret_counts);
