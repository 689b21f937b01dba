/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Naming: names the frames of a perf.data, and writes them in any number of forms
 */

#include "cli/naming-job.h"

/* Prints a line of counts to stderr. False with ERROR set; without ERROR if the reader of stdout
 * closed it. */
bool perf_naming_run(const PerfNaming *job, GError **error);
