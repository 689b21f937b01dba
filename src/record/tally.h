/* SPDX-License-Identifier: MIT */
#pragma once

/* Tally: counts the samples in perf's file while perf writes it */

#include "unwind/process-scope.h"

typedef struct Tally Tally;

/*
 * Counts in the file that is at PATH now, and in the files that replace it later. Samples of at
 * least TOO_LARGE bytes do not count; 0: all do. Samples of processes outside of SCOPE, which is
 * taken over, do not count, either; NULL: all do.
 */
Tally *tally_new(const char *path, uint32_t too_large, ProcessScope *scope);
/* NULL is fine. */
void tally_free(Tally *tally);
/* Reads new records. A file that is not perf's, and the rest after a damaged record, have no
 * samples. */
void tally_update(Tally *tally);

/* In all files up to the last update; lost are those that perf could not read in time. */
uint64_t tally_samples(const Tally *tally);
uint64_t tally_lost(const Tally *tally);
