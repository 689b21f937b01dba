/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Job of a naming: its input, its outputs, and further receivers of the samples
 */

#include "cli/options.h"
#include "cli/perf-profile.h"
#include "profile/profile.h"
#include "record/jit-memory.h"
#include "unwind/stack-walk.h"

/* The threads of a process that its runtime has sampled. */
typedef struct RoundThreads {
        /* The name of thread *TID of its own pid namespace, and in *TID its id in ours; NULL: it is
         * not known. */
        const char *(*find)(void *data, int32_t *tid);
        void *data;
        int64_t clock_ahead; /* ns: of the process's CLOCK_MONOTONIC to ours */
} RoundThreads;

typedef struct PerfNaming {
        const Options *options; /* source and style of names */
        const char *input;
        const char *const *outputs; /* "-": stdout; the ending names the form, as in
                                     * profile_write(), else text */
        unsigned n_outputs;
        const char *format; /* form of all outputs, as of --format; NULL: the endings decide */
        GPtrArray *written; /* borrowed: receives the outputs that are written, or NULL */
        const char *title;  /* title of graphs; NULL: the input's name */
        /* If an output cannot be written, keep the named samples in a new file in $TMPDIR. */
        bool is_rescued;
        /* Receives the profile, too; or NULL. */
        void (*take)(const Profile *profile, const ProfileOptions *options, void *data);
        void *data;
        Profile *into;          /* borrowed: receives the samples; NULL: the job makes a profile */
        bool is_before;         /* the samples are the baseline of a comparison */
        const SampleSink *sink; /* borrowed: the only receiver of the samples; or NULL */
        PerfAsync *async;       /* borrowed, with SINK: receives the names of its chains; or NULL */
        PerfActivity *activity; /* borrowed: activity of the runtimes; NULL: not known */
        const FrameTaker *frames;        /* borrowed: receives the registers of frames; or NULL */
        const JitMemory *memory;         /* borrowed: the code of the runtimes; NULL: not known */
        const StackMemory *stack_memory; /* borrowed; NULL: stacks end where their copies end */
        bool is_own;                     /* perf ran in our pid namespace */
        bool is_over;                    /* do not wait: no more events come */
        /* Borrowed: only the first round of the runtime's sampler is named, by the events of
         * another source; NULL: all samples are named. */
        const RoundThreads *round;
        bool is_quiet;       /* print neither notes nor counts */
        bool has_notes_only; /* print no counts, except that of managed frames without a name */
        bool ends_by_signal; /* after a signal, remove files and raise it again */
} PerfNaming;
