/* SPDX-License-Identifier: MIT */

/*
 * clrsym perf: names the managed frames of a perf.data
 */

#include "cli/perf-naming.h"
#include "cli/verbs.h"

#define DEFAULT_INPUT "perf.data"

bool verb_perf(const Options *options, GError **error)
{
        const char *stdout_only[] = {"-"};
        const PerfNaming job = {
                .options = options,
                .input = options->input ? options->input : DEFAULT_INPUT,
                .outputs = options->outputs ? (const char *const *)options->outputs->pdata
                                            : stdout_only,
                .n_outputs = options->outputs ? options->outputs->len : 1,
                .ends_by_signal = true,
        };

        return perf_naming_run(&job, error);
}
