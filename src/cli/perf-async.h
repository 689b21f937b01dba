/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The callers of async methods: awaiting methods instead of the thread pool's frames
 *
 * The runtime calls a method that continues after an await: the stack of its thread lacks the
 * methods that await it. .NET 11 reports these methods (record/async-chains.h), and has frames on
 * the stack that mark where a method continues. Where both agree, the chain replaces the frames
 * below the method. Otherwise the stack stays, with a frame that marks the missing callers.
 */

#include "perf/sample-sink.h"
#include "profile/profile.h"
#include "record/async-chains.h"

#include <glib.h>

/* The frame that stands for unknown callers. */
#define ASYNC_CONTINUED_NAME "[continued after await]"

/* A frame of the runtime that continues a method. */
typedef enum AsyncRole {
        ASYNC_NOTHING,
        ASYNC_WRAPPER,    /* .NET 11: a numbered wrapper of runtime async */
        ASYNC_DISPATCHER, /* runtime async without a wrapper, or code that resumes a method */
        ASYNC_MACHINE,    /* .NET 11: of a state machine whose events are on */
        ASYNC_BOX,        /* of a state machine */
        ASYNC_STUB,       /* between the runtime's frames and the method */
        ASYNC_PASS,       /* the same, if another one of these is next to it */
        ASYNC_METHOD,     /* the code of a state machine */
} AsyncRole;

typedef struct PerfAsync {
        const AsyncChains *chains; /* borrowed; NULL: there are none */
        int64_t clock_offset;      /* ns to add to perf's times for CHAINS */
        Profile *profile;          /* borrowed */
        GArray *roles;             /* uint8_t: AsyncRole by the sink's numbers of frames */
        GArray *wrappers;          /* uint8_t: number of the wrapper, by the same */
        /* Frames of chains that samples need, and their names: */
        GArray *wanted;    /* of AsyncWanted */
        GHashTable *index; /* AsyncAddress in its own memory -> number in WANTED + 1 */
        GArray *numbers;   /* uint32_t: frames of the profile */
        GArray *entries;   /* Entry: parallel to NUMBERS */
        GArray *last;      /* Entry: frames of the next sample of the sink that names chains */
        /* Receives each frame of that sink, with its number in the profile; or NULL. */
        void (*take_named)(void *data, const NamedFrame *frame, uint32_t number);
        void *data;
        GArray *named;     /* uint32_t: numbers in the profile, by those of the sink that names
                            * chains */
        uint64_t n_joined; /* samples with their chain */
        uint64_t n_apart;  /* samples of continued methods without a chain */
} PerfAsync;

/* An address of a chain whose name at TIME (perf's clock) is wanted. */
typedef struct AsyncWanted {
        int32_t pid;
        uint64_t address, time;
        guint first, n; /* range in PerfAsync.numbers, the leaf first */
} AsyncWanted;

void perf_async_init(PerfAsync *async, Profile *profile);
void perf_async_deinit(PerfAsync *async);

/* Notes that a sample of thread TID of PID at TIME may need its chain. */
void perf_async_want(PerfAsync *async, int32_t pid, int32_t tid, uint64_t time);
/* Takes the names of wanted addresses: a sample for each, whose period is its number. */
SampleSink perf_async_sink(PerfAsync *async);

/* Takes the next frame of the sink that gets samples. */
void perf_async_take_frame(PerfAsync *async, const ProfileFrame *frame);

/* A place in a stack: the frames from there on do not await those before. */
typedef struct AsyncJoint {
        size_t at;               /* number of frames before it */
        const AsyncChain *chain; /* borrowed: the awaiting frames are those from PLACE on; NULL: not
                                  * known */
        uint32_t place;
} AsyncJoint;

/* Finds the joint in STACK, the profile's numbers of the N FRAMES of SAMPLE, the leaf first. False:
 * the stack has no joint. Counts the sample. */
bool perf_async_find_joint(PerfAsync *async, const BatchSample *sample, const uint32_t *frames,
                           size_t n, const GArray *stack, AsyncJoint *ret);
/* The frames at PLACE of CHAIN for a sample at TIME, as a range in NUMBERS and ENTRIES. NULL: no
 * code, or no name. */
const AsyncWanted *perf_async_frames(const PerfAsync *async, const AsyncChain *chain,
                                     uint32_t place, uint64_t time);
/* Adds the chain to STACK, as above, or a frame that marks the missing callers. */
void perf_async_join(PerfAsync *async, const BatchSample *sample, const uint32_t *frames, size_t n,
                     GArray *stack);
