/* SPDX-License-Identifier: MIT */
#pragma once

/* The outputs of a naming: paths and forms, and those that are made of a profile */

#include "cli/naming-job.h"

/* NULL: stdout. */
const char *perf_output_path(const char *output);
/* FORMAT: as --format has it; NULL: the ending counts. The Namer prints text; all other forms are
 * made of a profile. */
bool perf_output_is_text(const char *output, const char *format);

/* Writes those outputs of JOB that are made of a profile, and calls its take(). */
bool perf_outputs_write(const PerfNaming *job, const Profile *profile,
                        const ProfileOptions *options, GError **error);
/* The same of a saved profile, the input of JOB: its samples have names already, so it needs
 * neither perf nor a daemon. */
bool perf_outputs_write_saved(const PerfNaming *job, GError **error);
/* Prints on stderr where each of the WRITTEN files is; stdout is none. */
void perf_outputs_print(const GPtrArray *written, const char *format);

/*
 * An output that fails does not keep the others from being written: the first error is returned,
 * and others are printed, unless a signal is the reason. FAILURE is owned; NULL: the reader of
 * stdout has gone.
 */
void perf_output_fail(GError *failure, GError **error);
