/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ChainNamer: adds perf's samples to a Namer
 *
 * A CodeFinder gives each frame its file and native symbol at once. Frames that may be managed wait
 * in the Namer for clrsym's answers.
 */

#include "perf/namer.h"

/* The mapping and symbol of an address. */
typedef struct CodePlace {
        const char *dso; /* the path of the file, "[vdso]", "[kernel.kallsyms]"; NULL: not known */
        const char *symbol; /* NULL: none */
        uint64_t start;     /* address of the symbol */
        uint64_t base;      /* address of the file's first byte, if it were mapped */
        bool is_kernel;
        MappingKind kind;   /* of DSO */
        FrameSource source; /* of SYMBOL: FRAME_SOURCE_SYMBOL, _RECORDER or _SEVERAL */
} CodePlace;

typedef struct CodeFinder {
        /*
         * Finds the place of ADDRESS in the process of SAMPLE. Texts are valid until the next call.
         * False: ADDRESS is in no mapping.
         */
        bool (*find)(void *data, const BatchSample *sample, uint64_t address, bool is_user,
                     CodePlace *ret);
        void *data;
} CodeFinder;

/* A sample; borrows its texts and addresses. */
typedef struct ChainSample {
        int32_t pid, tid;
        int32_t cpu;   /* NO_CPU: not recorded */
        uint64_t ip;   /* instruction pointer; 0: not recorded */
        uint64_t time; /* ns of perf's clock */
        uint64_t period;
        const char *comm; /* the name of the thread */
        const char *event;
        const char *leaf;      /* name of a frame without code before the chain; NULL: none */
        const uint64_t *chain; /* in the kernel's format, see perf/chain.h */
        size_t n_chain;
        unsigned max_frames; /* perf's limit: a chain of that length may be cut */
} ChainSample;

/* The leaf of a thread that is runnable but waits for a CPU. */
#define PREEMPTED_NAME "[waits for a CPU]"

typedef struct ChainNamer {
        Namer *namer; /* borrowed */
        CodeFinder code;
        const char *event;   /* borrowed: the event of the last sample */
        uint32_t event_text; /* the number of that name; valid with EVENT */
} ChainNamer;

/* perf's default limit of frames. */
#define CHAIN_MAX_FRAMES 127

/*
 * Adds SAMPLE if its event matches the settings. Flushes the Namer when it is full. False: the
 * Namer has the message.
 */
bool chain_namer_add(ChainNamer *namer, const ChainSample *sample);
