/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * SampleQueue: puts samples in order of time
 *
 * perf writes the records of each CPU in a separate order, and from time to time a record that ends
 * a round: later records are not older than the newest ones before the round. A sample with the
 * time of its copy can be older or newer by STACK_PAIR_APART. So samples wait for at most two
 * rounds. Beyond SAMPLE_QUEUE_MAX_BYTES, half of them are passed on at once.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SAMPLE_QUEUE_MAX_BYTES ((size_t)256 << 20)

/* A sample with its chain. */
typedef struct QueuedSample {
        uint64_t time;   /* ns of perf's clock; UINT64_MAX: not recorded */
        uint64_t due;    /* the same; without a time, that of the newest sample before */
        uint64_t number; /* in the order of the file */
        uint64_t ip, period;
        int32_t pid, tid, cpu;   /* as in PerfSample */
        uint32_t event;          /* number of the event's attributes */
        bool is_waiting_for_cpu; /* of OFF_CPU_EVENT: the thread could have run */
        uint32_t n_chain;
        uint64_t chain[];
} QueuedSample;

/* False ends the reading. */
typedef bool (*QueuedSampleFn)(const QueuedSample *sample, void *data);

typedef struct SampleQueue {
        GPtrArray *heap; /* owned, of owned QueuedSamples: the oldest one is the first */
        size_t n_bytes;
        uint64_t n_added;
        uint64_t newest; /* time of the newest sample so far */
        uint64_t due;    /* samples up to this time are due at the end of the round */
        QueuedSampleFn fn;
        void *data;
} SampleQueue;

void sample_queue_init(SampleQueue *queue, QueuedSampleFn fn, void *data);
void sample_queue_deinit(SampleQueue *queue);

/*
 * Copies SAMPLE, and CHAIN, with the sample's number of addresses. False: FN has ended the reading.
 */
bool sample_queue_add(SampleQueue *queue, const QueuedSample *sample, const uint64_t *chain);
/* A round has ended. */
bool sample_queue_round(SampleQueue *queue);
/* No more samples come. */
bool sample_queue_end(SampleQueue *queue);
