/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rewrite: a perf.data file is written again, with other records
 *
 * What is before the records and after them stays, and moves with their end.
 */

#include "perfdata/perf-data.h"

#include <stdio.h>

typedef struct Rewrite {
        PerfData data; /* the old file */
        FILE *output;  /* owned: the new one */
} Rewrite;

/* FD is the new file, empty; it is copied. To be deinitialized in both cases. */
bool rewrite_open(Rewrite *ret_rewrite, const char *path, int fd, GError **error);
void rewrite_deinit(Rewrite *rewrite);

/* What is before the records. */
bool rewrite_begin(Rewrite *rewrite, GError **error);
/* The next N bytes of the records. */
bool rewrite_put(Rewrite *rewrite, const void *bytes, size_t n, GError **error);
/* What is after the records. */
bool rewrite_end(Rewrite *rewrite, GError **error);
/* N bytes instead of those at AT, before the records or in the header; after the end. */
bool rewrite_replace(Rewrite *rewrite, uint64_t at, const void *bytes, size_t n, GError **error);
/* Writes what is still in memory. */
bool rewrite_finish(Rewrite *rewrite, GError **error);
