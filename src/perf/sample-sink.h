/* SPDX-License-Identifier: MIT */
#pragma once

/* SampleSink: receives named samples for a profile */

#include "perf/batch.h"
#include "perf/frames.h"

typedef struct SampleSink {
        /*
         * Receives a frame. Frames are numbered from 0; each comes before the first sample with it.
         * Texts are valid during the call.
         */
        void (*frame)(void *data, const NamedFrame *frame);
        /*
         * FRAMES: N numbers of frames, the leaf first. COMM and EVENT: the names of the thread and
         * the event.
         */
        void (*sample)(void *data, const BatchSample *sample, const char *comm, const char *event,
                       const uint32_t *frames, size_t n);
        void *data;
        /* The N entries of the next sample: addresses, and sources of names. NULL: not wanted. */
        void (*entries)(void *data, const Entry *entries, size_t n);
} SampleSink;
