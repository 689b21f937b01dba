/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * The samples of a .nettrace file: those of the runtime's own sampler, named and printed as perf's
 * filter does it with perf's
 */

#include "cli/perf-program.h"
#include "cli/perf-recording.h"

bool perf_nettrace_is(const char *path);
/* The recording's clock, its one event, and how many events were lost. */
bool perf_nettrace_survey(const char *path, Recording *recording, GError **error);
/* As perf_run(), with the same settings. */
bool perf_nettrace_run(const PerfRun *run, PerfResult *ret_result, GError **error);
