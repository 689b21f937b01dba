/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Dump: the events of a trace, in the order of their times
 */

#include "cli/dump-filter.h"

/*
 * Prints what FILTER has of PATH, which an event reader can read. False with ERROR
 * set, or if the output has failed.
 */
bool dump_path(const DumpFilter *filter, const char *path, GError **error);
