/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Dump CTF: `clrsym dump` by this program's own reader of CTF
 */

#include "cli/dump-filter.h"

typedef enum DumpResult {
        DUMP_DONE,
        DUMP_FAILED,  /* ERROR is set */
        DUMP_UNKNOWN, /* nothing is printed; ERROR is what babeltrace2 may be able to read */
} DumpResult;

/* Prints the events of the traces in DIRECTORY that FILTER has. */
DumpResult dump_ctf(const DumpFilter *filter, const char *directory, GError **error);
