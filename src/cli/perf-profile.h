/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * A profile, made from named samples
 */

#include "cli/perf-async.h"
#include "perf/sample-sink.h"
#include "profile/profile.h"

/*
 * Activity of the runtime at a sample, as a frame between its own frames and their caller. Both
 * functions append the text of that frame; false: no activity, or not known. All three NULL: only
 * CHAINS are known.
 */
typedef struct PerfActivity {
        /* The method that the JIT compiles. */
        bool (*compiling)(void *data, int32_t pid, int32_t tid, uint64_t time, GString *text);
        /* The running collection. COMM: the thread's name. */
        bool (*collecting)(void *data, int32_t pid, int32_t tid, const char *comm, uint64_t time,
                           GString *text);
        /* Adds all known activities as ProfileMarker, with the times of the events. */
        void (*mark)(void *data, GArray *markers);
        void *data;                /* of all three */
        const AsyncChains *chains; /* borrowed; NULL: chains of async methods are not known */
        int64_t clock_offset;      /* ns to add to perf's times for that */
        uint64_t last; /* of the samples so far: the newest, in ns of the events' clock */
        uint64_t n_samples, n_named; /* with a frame of the JIT; with that frame */
        uint64_t n_joined, n_apart;  /* of methods that continue after an await: with the chain;
                                        without it */
} PerfActivity;

/* Relation of a frame to a diagnostic session. */
typedef enum SessionRole {
        SESSION_NOTHING,
        SESSION_ROOT,    /* the frame and its callees belong to a session */
        SESSION_COMMAND, /* the same, if SESSION_SOURCE is among its callers */
        SESSION_SOURCE,
} SessionRole;

/* The owner of a frame's code. */
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
        GArray *physical;  /* uint32_t: the thread's own stack; empty: equal to STACK */
        bool has_physical; /* keep both stacks where they differ */
        /* The thread's own stack at the next sample, by the sink's numbers, borrowed. NULL: derive
         * it from the sample. */
        const uint32_t *known_physical;
        size_t n_known_physical;
        bool has_logical; /* awaiting methods are callers, see perf-async.h */
        bool is_weighed;  /* a sample counts its period */
        bool is_before;   /* the samples are the baseline of a comparison */
        bool is_borrowed; /* PROFILE is borrowed: for a comparison, which leaves sessions out */
} PerfProfile;

/* All known activities, of ProfileMarker, in times of the samples' clock. */
GArray *perf_activity_markers(const PerfActivity *activity);

/* INTO: borrowed; receives the samples; NULL: a new profile. */
void perf_profile_init(PerfProfile *profile, PerfActivity *activity, Profile *into);
void perf_profile_deinit(PerfProfile *profile);

/* The sink adds samples to PROFILE. */
SampleSink perf_profile_sink(PerfProfile *profile);
