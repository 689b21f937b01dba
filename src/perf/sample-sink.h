/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * SampleSink: named samples, on their way to a profile
 */

#include "perf/batch.h"
#include "perf/frames.h"

typedef struct SampleSink {
        /* A frame; frames count from 0, and each comes before the first sample that has it. Texts
         * are valid during the call. */
        void (*frame)(void *data, const NamedFrame *frame);
        /* FRAMES: N numbers of frames, the leaf first; the texts of the sample are COMM and EVENT.
         */
        void (*sample)(void *data, const BatchSample *sample, const char *comm, const char *event,
                       const uint32_t *frames, size_t n);
        void *data;
        /* The N entries of the sample that comes next: their addresses, and what named them. NULL:
         * they are not wanted. */
        void (*entries)(void *data, const Entry *entries, size_t n);
} SampleSink;
