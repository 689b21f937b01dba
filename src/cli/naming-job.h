/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Job of a naming: what is read, which outputs are made of it, and who else gets the samples
 */

#include "cli/options.h"
#include "cli/perf-profile.h"
#include "profile/profile.h"
#include "record/jit-memory.h"
#include "unwind/stack-walk.h"

typedef struct PerfNaming {
        const Options *options; /* where names come from, and what is shown of them */
        const char *input;
        const char *const *outputs; /* "-": stdout; the ending names the form, as profile_write()
                                       has it, else it is text */
        unsigned n_outputs;
        const char *format; /* of all outputs, as --format has it; NULL: the endings count */
        GPtrArray
                *written; /* borrowed: gets the outputs that are written; NULL: nobody wants them */
        const char *title; /* of graphs; NULL: the input's name */
        /* If an output cannot be written, the named samples are kept in a new file in $TMPDIR. */
        bool is_rescued;
        /* Also called with the profile. NULL: nobody wants it. */
        void (*take)(const Profile *profile, const ProfileOptions *options, void *data);
        void *data;
        Profile *into;            /* borrowed: gets the samples; NULL: a profile of its own */
        bool is_before;           /* the samples are those that others are compared with */
        const SampleSink *sink;   /* borrowed: gets the samples, and nothing else does; or NULL */
        PerfAsync *async;         /* borrowed, with SINK: gets the names of its chains; or NULL */
        PerfActivity *activity;   /* borrowed; NULL: it is not known what the runtime did when */
        const FrameTaker *frames; /* borrowed: gets the registers of frames; NULL: nobody does */
        const JitMemory *memory;  /* borrowed: the code of the runtimes; NULL: it is not known */
        const StackMemory *stack_memory; /* borrowed; NULL: stacks are as deep as their copies */
        bool is_own;                     /* perf ran in our pid namespace */
        bool is_over;                    /* no more events come: they are not waited for */
        bool is_round; /* of the runtime's sampler, the first round is named, by others' events */
        bool is_quiet; /* neither notes nor counts are printed */
        bool has_notes_only; /* no counts are printed */
        bool ends_by_signal; /* one that came is raised again once files are removed */
} PerfNaming;
