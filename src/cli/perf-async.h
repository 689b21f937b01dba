/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The callers of async methods: in the place of the thread pool, the methods that await
 *
 * A method that continues after an await is called by the runtime: the stack of its thread does not
 * have the methods that await it. .NET 11 reports them (record/async-chains.h), and has frames on
 * the stack that mark where a method is continued. Where both agree, the chain replaces what is
 * below the method. Elsewhere the stack stays, with a frame that shows where callers are missing.
 */

#include "perf/sample-sink.h"
#include "profile/profile.h"
#include "record/async-chains.h"

#include <glib.h>

/* The frame in the place of callers that are not known. */
#define ASYNC_CONTINUED_NAME "[continued after await]"

/* A frame of the runtime that continues a method. */
typedef enum AsyncRole {
        ASYNC_NOTHING,
        ASYNC_WRAPPER,    /* .NET 11: of runtime async; the numbers from here on are wrappers' */
        ASYNC_DISPATCHER, /* the same, without a wrapper, or code that resumes a method */
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
        GHashTable *index; /* of these: AsyncAddress in its own memory -> number + 1 */
        GArray *numbers;   /* uint32_t: frames of the profile */
        GArray *entries;   /* Entry: of the same */
        GArray *last;      /* Entry: those of the next sample of the sink that names chains */
        /* Gets each frame of that sink, with its number in the profile. NULL: nobody wants them. */
        void (*take_named)(void *data, const NamedFrame *frame, uint32_t number);
        void *data;
        GArray *named;     /* uint32_t: these, by the numbers of the sink that names chains */
        uint64_t n_joined; /* samples with the chain */
        uint64_t n_apart;  /* samples of continued methods without it */
} PerfAsync;

/* An address of a chain, to be named as of TIME (perf's clock). */
typedef struct AsyncWanted {
        int32_t pid;
        uint64_t address, time;
        guint first, n; /* of PerfAsync.numbers, the leaf first */
} AsyncWanted;

void perf_async_init(PerfAsync *async, Profile *profile);
void perf_async_deinit(PerfAsync *async);

/* A sample of thread TID of PID at TIME may need its chain. */
void perf_async_want(PerfAsync *async, int32_t pid, int32_t tid, uint64_t time);
/* Takes the names of what is wanted: a sample for each, whose period is its number. */
SampleSink perf_async_sink(PerfAsync *async);

/* The next frame of the sink that gets samples. */
void perf_async_take_frame(PerfAsync *async, const ProfileFrame *frame);

/* A place in a stack from which on its frames are not those that await. */
typedef struct AsyncJoint {
        size_t at;               /* so many frames are before it */
        const AsyncChain *chain; /* borrowed: has those that await, from PLACE on; NULL: they are
                                  * not known */
        uint32_t place;
} AsyncJoint;

/* STACK has the profile's numbers of the N FRAMES of SAMPLE, the leaf first. False: the stack has
 * no such place. Counts the sample. */
bool perf_async_find_joint(PerfAsync *async, const BatchSample *sample, const uint32_t *frames,
                           size_t n, const GArray *stack, AsyncJoint *ret);
/* The frames at PLACE of CHAIN, which a sample of TIME needs: of the numbers and entries. NULL:
 * they have no code, or no name. */
const AsyncWanted *perf_async_frames(const PerfAsync *async, const AsyncChain *chain,
                                     uint32_t place, uint64_t time);
/* STACK, as above, gets the chain, or a frame that shows where it is missing. */
void perf_async_join(PerfAsync *async, const BatchSample *sample, const uint32_t *frames, size_t n,
                     GArray *stack);
