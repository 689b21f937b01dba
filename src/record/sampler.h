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

/* The time of threads to sample. */
typedef enum SampledTime {
        SAMPLED_CPU,   /* while they have a CPU */
        SAMPLED_WAITS, /* while they have none, as PROFILE_EVENT_OFF_CPU */
        SAMPLED_BOTH,
        _SAMPLED_TIME_MAX,
} SampledTime;

/* For users who may not record waits by perf. */
#define WAITS_ADVICE "--sampler runtime shows where .NET threads wait, without perf"

typedef struct SamplerSettings {
        const char *perf;      /* its path */
        const char *frequency; /* samples a second, in perf's form */
        SampledTime time;
        const char *call_graph; /* "fp", "dwarf" or "both"; after the last two also ",BYTES" */
        bool is_whole_machine;  /* the whole machine is wanted; false: PIDS, */
        const pid_t *pids;      /* and what they start */
        unsigned n_pids;
        bool is_divided; /* into files, see sampler_divide() */
        int wake_fd;     /* gives the start up, see spawn.h */
} SamplerSettings;

/* The default way to find callers at FREQUENCY on this machine. The caller frees it. */
char *sampler_call_graph(const char *frequency);

typedef struct Sampler {
        pid_t perf;         /* 0: ended */
        char *output;       /* owned: its file */
        char *log;          /* owned: the file with its messages */
        int control;        /* orders and replies */
        uint32_t copy_size; /* bytes: samples of at least this size are copies of stacks; 0: no
                             * copies */
        Pace *pace;         /* owned; NULL: it records no single threads */
        bool is_machine;    /* it records the whole machine, perhaps more than was wanted */
} Sampler;

/*
 * Samples from now on. If permitted, perf always records the whole machine: events of single
 * threads cost time at each switch between threads, which halves the throughput of a busy server.
 * The caller removes other processes (unwind/narrow.h). NULL with ERROR set: why perf cannot be
 * used, and a remedy.
 */
Sampler *sampler_start(const Scratch *scratch, const SamplerSettings *settings, GError **error);
/* Puts the samples so far into a file of their own, soon; no sample is lost between two files. At
 * the end, the rest becomes a file, too. */
void sampler_divide(const Sampler *sampler);
/* The oldest of these files, in the directory of the samples. The caller removes it. NULL: none. */
char *sampler_next_part(const Sampler *sampler);
/* Makes perf write its samples, soon. */
void sampler_flush(const Sampler *sampler);
/* True if perf has ended by itself. */
bool sampler_is_over(Sampler *sampler);
/* NULL: there is room for more samples; else what to do (owned). */
char *sampler_room_missing(const Sampler *sampler);
/* Keeps perf from using more CPU than it needs. To be called again after the returned ms, or
 * earlier. */
unsigned sampler_pace(const Sampler *sampler, gint64 now);
/* Ends perf, at once if WAKE_FD (see spawn.h) is readable. False with ERROR set: there are no
 * samples. */
bool sampler_stop(Sampler *sampler, int wake_fd, GError **error);
/* NULL is fine. */
void sampler_free(Sampler *sampler);
