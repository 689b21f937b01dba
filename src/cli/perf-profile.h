/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A profile, made of named samples
 */

#include "cli/perf-async.h"
#include "perf/sample-sink.h"
#include "profile/profile.h"

/*
 * What the runtime did at a sample, as a frame between its own frames and their caller. Both append
 * the text of that frame; false: nothing, or not known. NULL, all three: only CHAINS are known.
 */
typedef struct PerfActivity {
        /* What the JIT compiles. */
        bool (*compiling)(void *data, int32_t pid, int32_t tid, uint64_t time, GString *text);
        /* What the collector collects. COMM: the thread's name. */
        bool (*collecting)(void *data, int32_t pid, int32_t tid, const char *comm, uint64_t time,
                           GString *text);
        /* Adds all that is known, of ProfileMarker, with the times of the events. */
        void (*mark)(void *data, GArray *markers);
        void *data;                  /* of all three */
        const AsyncChains *chains;   /* borrowed; NULL: chains of async methods are not known */
        int64_t clock_offset;        /* ns to add to perf's times for that */
        uint64_t n_samples, n_named; /* with a frame of the JIT; with that frame */
        uint64_t n_joined, n_apart;  /* of methods that continue after an await: with the chain;
                                        without it */
} PerfActivity;

/* What a frame says about a diagnostic session. */
typedef enum SessionRole {
        SESSION_NOTHING,
        SESSION_ROOT,    /* it and what it calls is a session's */
        SESSION_COMMAND, /* the same, if the next one is among its callers */
        SESSION_SOURCE,
} SessionRole;

/* Whose code a frame is in. */
typedef enum FrameOwner {
        OWNER_MANAGED,
        OWNER_JIT,
        OWNER_OTHER,
} FrameOwner;

typedef struct PerfProfile {
        Profile *profile;       /* owned */
        PerfActivity *activity; /* borrowed or NULL */
        PerfAsync async;
        GArray *owners;    /* FrameOwner, by the sink's numbers */
        GArray *roles;     /* SessionRole, by the same */
        GArray *frames;    /* uint32_t: the profile's numbers, by the sink's */
        GArray *stack;     /* uint32_t: the frames of one sample */
        GArray *physical;  /* the same, of the thread's own stack; empty: STACK is it */
        bool has_physical; /* both stacks are kept where they differ */
        /* The thread's own stack at the next sample, by the sink's numbers, borrowed. NULL: it is
         * that of the sample, or the one that is made of it. */
        const uint32_t *known_physical;
        size_t n_known_physical;
        bool has_logical; /* methods that await are callers, see perf-async.h */
        bool is_weighed;  /* a sample counts for its period */
        bool is_before;   /* the samples are of the recording that another is compared with */
        bool is_borrowed; /* the profile: samples are compared, and those of sessions left out */
} PerfProfile;

/* All that is known of it, of ProfileMarker, by the clock of the samples. */
GArray *perf_activity_markers(const PerfActivity *activity);

/* INTO: the profile that gets the samples, borrowed; NULL: a new one. */
void perf_profile_init(PerfProfile *profile, PerfActivity *activity, Profile *into);
void perf_profile_deinit(PerfProfile *profile);

/* It takes what comes next into PROFILE. */
SampleSink perf_profile_sink(PerfProfile *profile);
