/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Dump nettrace: `clrsym dump` of a .nettrace file
 */

#include "cli/dump-filter.h"

/*
 * Takes over FD, a file that begins as nettrace does, and prints the events in it that FILTER has;
 * PATH is for messages. False with ERROR set, or if the output has failed.
 */
bool dump_nettrace(const DumpFilter *filter, int fd, const char *path, GError **error);
