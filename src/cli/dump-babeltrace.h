/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Dump babeltrace: `clrsym dump` by a babeltrace2 with sink.clrsym.dump
 */

#include "cli/dump-filter.h"

/* Prints the events of the traces in DIRECTORY that FILTER has. False with ERROR set. */
bool dump_babeltrace(const DumpFilter *filter, const char *directory, GError **error);
