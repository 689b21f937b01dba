/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Naming: the frames of a perf.data named, and written in any number of forms
 */

#include "cli/naming-job.h"

/* Prints a line of counts to stderr. False with ERROR set, or, if the reader of stdout went away,
 * without. */
bool perf_naming_run(const PerfNaming *job, GError **error);
