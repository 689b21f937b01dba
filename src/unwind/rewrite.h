/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Rewrite: writes a perf.data file again, with other records
 *
 * The parts before and after the records stay, and move with the end of the records.
 */

#include "perfdata/perf-data.h"

#include <stdio.h>

typedef struct Rewrite {
        PerfData data; /* the old file */
        FILE *output;  /* owned: the new one */
} Rewrite;

/* FD is the new file, empty; it is duplicated. To be deinitialized in both cases. */
bool rewrite_open(Rewrite *ret_rewrite, const char *path, int fd, GError **error);
void rewrite_deinit(Rewrite *rewrite);

/* Writes the part before the records. */
bool rewrite_begin(Rewrite *rewrite, GError **error);
/* Writes the next N bytes of records. */
bool rewrite_put(Rewrite *rewrite, const void *bytes, size_t n, GError **error);
/* Writes the part after the records. */
bool rewrite_end(Rewrite *rewrite, GError **error);
/* Replaces N bytes at AT, before the records or in the header; to be called after the end. */
bool rewrite_replace(Rewrite *rewrite, uint64_t at, const void *bytes, size_t n, GError **error);
/* Writes the buffered bytes. */
bool rewrite_finish(Rewrite *rewrite, GError **error);
