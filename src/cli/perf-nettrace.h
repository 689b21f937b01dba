/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The samples of a .nettrace file, named and printed as perf's: those of the runtime's own sampler;
 * allocations, waits for locks and exceptions
 *
 * Or of a directory with such files, HOSTPID-PIDNS-PID.nettrace: of several processes, whose names
 * come from elsewhere, but for precompiled code, which needs the file `mappings` in it.
 */

#include "cli/options.h"
#include "cli/perf-run.h"
#include "cli/perf-recording.h"
#include "cli/progress.h"

bool perf_nettrace_is(const char *path);
/* The recording's clock, its events, those of the sampler first, and how many events were lost; and
 * in MAPS (of ProcessMap) the processes of a directory. */
bool perf_nettrace_survey(const char *path, Recording *recording, GArray *maps, Progress *progress,
                          GError **error);

/* The runtime walks no more frames of a stack. */
#define SAMPLE_ROUND_MAX_FRAMES 100u

/* What there is of a file of the runtime's sampler: rounds, each with a sample of each thread. */
typedef struct SamplerRounds {
        unsigned n_threads; /* of the first round; 0: there is none */
        unsigned n_cut;     /* of these: their stacks can be deeper */
        uint64_t duration;  /* ns from its first sample to its last one */
        uint64_t n_rounds;
        uint64_t n_lost; /* events of any kind */
        bool is_ended;   /* the file has the end of its session */
} SamplerRounds;

bool perf_nettrace_rounds(const char *path, SamplerRounds *ret, GError **error);

/* The mappings of the processes of a directory, as lines for the filter; "": none are known. The
 * caller frees it. */
char *perf_nettrace_mappings(const char *path);
/* Names the samples of PATH that are of EVENT, which RECORDING has; IS_ROUND: those of the first
 * round. False also if the reader of the
 * output is gone: then without ERROR. */
bool perf_nettrace_run(const char *path, const Recording *recording, const char *event,
                       bool is_round, PerfRun *run, Progress *progress, PerfResult *ret_result,
                       GError **error);
