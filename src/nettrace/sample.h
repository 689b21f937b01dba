/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Samples: the events of a stream with a thread's stack and an amount
 *
 * Layouts: the runtime's manifest (ClrEtwAll.man of dotnet/runtime), and for the sampler's event
 * its provider in the runtime's EventPipe.
 */

#include <glib.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum NettraceSampleKind {
        NETTRACE_SAMPLE_NONE,          /* another event */
        NETTRACE_SAMPLE_THREAD,        /* the runtime's sampler found the thread */
        NETTRACE_SAMPLE_ALLOC_SAMPLED, /* AllocationSampled, from .NET 10 on */
        NETTRACE_SAMPLE_ALLOC_TICK,    /* GCAllocationTick */
        NETTRACE_SAMPLE_CONTENTION,    /* ContentionStop: the thread has waited for a lock */
        NETTRACE_SAMPLE_WAIT,          /* ContentionStart, which has the stack of the stop: no
                                        * sample */
        NETTRACE_SAMPLE_EXCEPTION,     /* ExceptionThrown */
        _NETTRACE_SAMPLE_KIND_MAX,
} NettraceSampleKind;

/* The largest weight: a double holds all numbers up to it exactly. */
#define NETTRACE_MAX_WEIGHT (UINT64_C(1) << 53)

typedef struct NettraceSample {
        NettraceSampleKind kind;
        uint64_t time; /* ns */
        /* Bytes allocated, ns waited, or 1; at most NETTRACE_MAX_WEIGHT. */
        uint64_t weight;
        int32_t pid, tid;
        bool is_managed;           /* the thread itself runs at the first address, which is no
                                    * caller */
        const char *type;          /* of the object or the exception; NULL: the kind has none */
        const uint64_t *addresses; /* of its managed frames, the leaf first */
        size_t n_addresses;        /* 0: the stack is not known */
} NettraceSample;

/* The kind of event ID of a provider, whose name of N bytes need not be terminated. */
NettraceSampleKind nettrace_sample_kind(const char *provider, size_t n, uint32_t id);

/*
 * Reads a payload of KIND: sets kind, weight, is_managed and type of SAMPLE. N_POINTER: bytes of an
 * address. TYPE gets the text of the type. False: the payload is too short, its amount is
 * impossible, or the sample stands for nothing.
 */
bool nettrace_sample_decode(NettraceSampleKind kind, const uint8_t *payload, size_t n,
                            uint32_t n_pointer, GString *type, NettraceSample *sample);
