/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ChainNamer: samples, as perf recorded them, into a Namer
 *
 * Each frame gets its file and native symbol at once, from a CodeFinder; frames that may be managed
 * wait in the Namer for clrsym's answers.
 */

#include "perf/namer.h"

/* The code at an address. */
typedef struct CodePlace {
        const char *dso; /* the path of the file, "[vdso]", "[kernel.kallsyms]"; NULL: not known */
        const char *symbol; /* NULL: none */
        uint64_t start;     /* address of the symbol */
        uint64_t base;      /* the address at which the file's begin would be mapped */
        bool is_kernel;
        MappingKind kind;   /* of DSO */
        FrameSource source; /* of SYMBOL: FRAME_SOURCE_SYMBOL, _RECORDER or _SEVERAL */
} CodePlace;

typedef struct CodeFinder {
        /* The place of ADDRESS in the process of SAMPLE; texts are valid up to the next call.
         * False: it is in no mapping. */
        bool (*find)(void *data, const BatchSample *sample, uint64_t address, bool is_user,
                     CodePlace *ret);
        void *data;
} CodeFinder;

/* A sample; texts and addresses are borrowed. */
typedef struct ChainSample {
        int32_t pid, tid;
        int32_t cpu;   /* NO_CPU: not recorded */
        uint64_t ip;   /* where the processor was; 0: not recorded */
        uint64_t time; /* ns of perf's clock */
        uint64_t period;
        const char *comm; /* the name of the thread */
        const char *event;
        const char *leaf;      /* a frame without code, in front of the chain; NULL: none */
        const uint64_t *chain; /* as the kernel records it, see perf/chain.h */
        size_t n_chain;
        unsigned max_frames; /* perf's limit: a chain of so many may have more */
} ChainSample;

/* The leaf of a thread that waits though it could run. */
#define PREEMPTED_NAME "[waits for a CPU]"

typedef struct ChainNamer {
        Namer *namer; /* borrowed */
        CodeFinder code;
        const char *event;   /* borrowed: the event of the last sample */
        uint32_t event_text; /* the number of that name; valid with EVENT */
} ChainNamer;

/* perf's own limit of frames, unless another one was recorded. */
#define CHAIN_MAX_FRAMES 127

/*
 * Adds SAMPLE, if it is of the event that the settings ask for, and flushes the Namer when that is
 * full. False: the Namer has the message.
 */
bool chain_namer_add(ChainNamer *namer, const ChainSample *sample);
