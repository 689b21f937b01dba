/* SPDX-License-Identifier: MIT */
#pragma once

/* The outputs of a naming: paths and forms, and those that are made of a profile */

#include "profile/profile.h"

/* NULL: stdout. */
const char *perf_output_path(const char *output);
/* FORMAT: as --format has it; NULL: the ending counts. The Namer prints text; all other forms are
 * made of a profile. */
bool perf_output_is_text(const char *output, const char *format);

/* Writes those of N outputs that are made of a profile. */
bool perf_outputs_write(const char *const *outputs, unsigned n, const char *format,
                        const Profile *profile, const ProfileOptions *options, GError **error);

/*
 * An output that fails does not keep the others from being written: the first error is returned,
 * and others are printed, unless a signal is the reason. FAILURE is owned; NULL: the reader of
 * stdout has gone.
 */
void perf_output_fail(GError *failure, GError **error);
