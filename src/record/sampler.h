/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Sampler: perf record in the background
 */

#include "record/pace.h"
#include "record/scratch.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* The time of threads that is sampled. */
typedef enum SampledTime {
        SAMPLED_CPU,   /* while they have a CPU */
        SAMPLED_WAITS, /* while they have none, by PROFILE_EVENT_OFF_CPU */
        SAMPLED_BOTH,
        _SAMPLED_TIME_MAX,
} SampledTime;

/* For users who cannot have waits by perf. */
#define WAITS_ADVICE "--sampler runtime shows where .NET threads wait, without perf"

typedef struct SamplerSettings {
        const char *perf;      /* its path */
        const char *frequency; /* samples a second, as perf takes it */
        SampledTime time;
        const char *call_graph; /* "fp", "dwarf" or "both"; after the last two also ",BYTES" */
        bool is_whole_machine;  /* that is wanted; else PIDS, */
        const pid_t *pids;      /* and what they start */
        unsigned n_pids;
        bool is_divided; /* into files, see sampler_divide() */
        int wake_fd;     /* its start is given up then: see spawn.h */
} SamplerSettings;

/* How to find callers at FREQUENCY on this machine, if the user does not say. The caller frees it.
 */
char *sampler_call_graph(const char *frequency);

typedef struct Sampler {
        pid_t perf;   /* 0: it has ended */
        char *output; /* owned: its file */
        char *log;    /* owned: the file with its messages */
        int control;  /* orders and replies */
        uint32_t
                copy_size; /* bytes: samples of this size are copies of stacks; 0: there are none */
        Pace *pace;        /* owned; NULL: it records no single threads */
        bool is_machine;   /* it records the whole machine, perhaps more than was wanted */
} Sampler;

/*
 * Samples are taken from now on. Where perf may, it records the whole machine in any case: events
 * of single threads take time at each switch between threads, which halves what a busy server
 * serves. The caller leaves out the other processes (unwind/narrow.h). NULL with ERROR set: why
 * perf cannot, and what helps.
 */
Sampler *sampler_start(const Scratch *scratch, const SamplerSettings *settings, GError **error);
/*
 * The samples so far become a file of their own, in a moment; no sample is lost between two files.
 * At the end the rest is one, too.
 */
void sampler_divide(const Sampler *sampler);
/* The oldest of these files, in the directory of the samples. The caller removes it. NULL: none. */
char *sampler_next_part(const Sampler *sampler);
/* Has perf write what it has taken, in a moment. */
void sampler_flush(const Sampler *sampler);
/* Has perf ended by itself? */
bool sampler_is_over(Sampler *sampler);
/* NULL: there is room for more samples; or what to do (owned). */
char *sampler_room_missing(const Sampler *sampler);
/* Keeps it from taking more CPU than it needs. To be called again after the returned ms, or
 * earlier. */
unsigned sampler_pace(const Sampler *sampler, gint64 now);
/* Ends it, at once if WAKE_FD (see spawn.h) is readable. False with ERROR set: there are no
 * samples.
 */
bool sampler_stop(Sampler *sampler, int wake_fd, GError **error);
/* NULL is fine. */
void sampler_free(Sampler *sampler);
