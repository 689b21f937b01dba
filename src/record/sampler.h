/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Sampler: perf record in the background
 */

#include "record/scratch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

typedef struct SamplerSettings {
        const char *perf;       /* its path */
        const char *frequency;  /* samples a second, as perf takes it */
        const char *call_graph; /* "fp" or "dwarf" */
        bool is_whole_machine;  /* else PIDS, */
        const pid_t *pids;      /* and what they start */
        unsigned n_pids;
} SamplerSettings;

typedef struct Sampler {
        pid_t perf;   /* 0: it has ended */
        char *output; /* owned: its file */
        char *log;    /* owned: the file with its messages */
        int control;  /* orders and replies */
} Sampler;

/* Samples are taken from now on. NULL with ERROR set: why perf cannot, and what helps. */
Sampler *sampler_start(const Scratch *scratch, const SamplerSettings *settings, GError **error);
/* Has perf ended by itself? */
bool sampler_is_over(Sampler *sampler);
/* Ends it. False with ERROR set: there are no samples. */
bool sampler_stop(Sampler *sampler, GError **error);
/* Bytes of its file by now. */
uint64_t sampler_size(const Sampler *sampler);
/* NULL is fine. */
void sampler_free(Sampler *sampler);
