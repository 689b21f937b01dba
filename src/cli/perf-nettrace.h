/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The samples of a .nettrace file, named and printed as perf's: samples of the runtime's sampler,
 * allocations, waits for locks, and exceptions
 *
 * The input can be a directory with such files, HOSTPID-PIDNS-PID.nettrace, of several processes. A
 * trace or a daemon gives the names, except for precompiled code, which needs the file `mappings`
 * in the directory.
 */

#include "cli/naming-job.h"
#include "cli/options.h"
#include "cli/perf-run.h"
#include "cli/perf-recording.h"
#include "cli/progress.h"

bool perf_nettrace_is(const char *path);
/* Finds the recording's clock, its events (the sampler's first), and the number of lost events; for
 * a directory, MAPS (of ProcessMap) gets the processes. */
bool perf_nettrace_survey(const char *path, Recording *recording, GArray *maps, Progress *progress,
                          GError **error);

/* The runtime's limit for the frames of a stack. */
#define SAMPLE_ROUND_MAX_FRAMES 100u

/* Contents of a file of the runtime's sampler: rounds, each with a sample of each thread. */
typedef struct SamplerRounds {
        unsigned n_threads; /* threads of the first round; 0: no round */
        unsigned n_cut;     /* those whose stacks may be truncated */
        uint64_t duration;  /* ns from the round's first sample to its last one */
        uint64_t n_rounds;
        uint64_t n_lost; /* events of any kind */
        bool is_ended;   /* the file contains the end of its session */
} SamplerRounds;

bool perf_nettrace_rounds(const char *path, SamplerRounds *ret, GError **error);

/* The mappings of the processes of a directory, as lines for the filter; "": not known. The caller
 * frees it. */
char *perf_nettrace_mappings(const char *path);
/* Gives ASYNC the samples of the first round of PATH, whose chains are needed. */
bool perf_nettrace_want(const char *path, const RoundThreads *threads, PerfAsync *async,
                        Progress *progress, GError **error);
/* Names the methods that ASYNC wants, with RUN. */
bool perf_nettrace_run_chains(const PerfAsync *async, const char *event, PerfRun *run,
                              GError **error);

/* Names the samples of PATH with EVENT, which RECORDING contains. THREADS: only the first round;
 * NULL: all. False with ERROR set; without ERROR if the reader of the output closed it. */
bool perf_nettrace_run(const char *path, const Recording *recording, const char *event,
                       const RoundThreads *threads, PerfRun *run, Progress *progress,
                       PerfResult *ret_result, GError **error);
