/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Gaps: intervals in which events are missing, sorted and disjoint
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* [begin, end], ns: both included. */
typedef struct Gap {
        uint64_t begin;
        uint64_t end;
} Gap;

/* GAPS is an array of Gap. Gaps that touch [begin, end] are merged with it. */
void gaps_add(GArray *gaps, uint64_t begin, uint64_t end);
/* Removes the gaps that touch [begin, end]. */
void gaps_remove(GArray *gaps, uint64_t begin, uint64_t end);
/* Merges the oldest gaps, and the time between them, until at most MOST are left. */
void gaps_limit(GArray *gaps, guint most);

bool gaps_search(const GArray *gaps, uint64_t begin, uint64_t end);

/*
 * True if a gap touches [begin, end]. Each answer calls this several times; there are usually no
 * gaps.
 */
static inline bool gaps_touch(const GArray *gaps, uint64_t begin, uint64_t end)
{
        return gaps->len && gaps_search(gaps, begin, end);
}
