/* SPDX-License-Identifier: MIT */
#pragma once

/* The outputs of a naming: paths and forms, and outputs made from a profile */

#include "cli/naming-job.h"

/* NULL: stdout. */
const char *perf_output_path(const char *output);
/* FORMAT: argument of --format; NULL: the ending decides. The Namer prints text; other forms are
 * made from a profile. */
bool perf_output_is_text(const char *output, const char *format);

/* Writes the outputs of JOB that are made from a profile, and calls its take(). */
bool perf_outputs_write(const PerfNaming *job, const Profile *profile,
                        const ProfileOptions *options, GError **error);
/* The same for a saved profile, the input of JOB. Its samples have names already, so neither perf
 * nor a daemon is needed. */
bool perf_outputs_write_saved(const PerfNaming *job, GError **error);
/* Prints the paths of the WRITTEN files on stderr; stdout is omitted. */
void perf_outputs_print(const GPtrArray *written, const char *format);

/*
 * After the failure of an output, the other ones are still written. ERROR gets the first failure;
 * later ones are printed, unless a signal is the reason. FAILURE is owned; NULL: the reader of
 * stdout has closed it.
 */
void perf_output_fail(GError *failure, GError **error);
