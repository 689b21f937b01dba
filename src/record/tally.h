/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Tally: how many samples perf's file has, counted while perf writes it
 */

#include "unwind/process-scope.h"

typedef struct Tally Tally;

/*
 * Counts in the file that is at PATH now, and in those that take its place later. Samples of
 * TOO_LARGE bytes and more do not count; 0: all do. Nor do those of other processes than SCOPE's,
 * which is taken over; NULL: all processes count.
 */
Tally *tally_new(const char *path, uint32_t too_large, ProcessScope *scope);
/* NULL is fine. */
void tally_free(Tally *tally);
/* Reads what was added. A file that is not perf's, and what is after a damaged record, has none. */
void tally_update(Tally *tally);

/* In all files up to the last update; lost ones are those that perf could not take in time. */
uint64_t tally_samples(const Tally *tally);
uint64_t tally_lost(const Tally *tally);
