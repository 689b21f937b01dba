/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Gaps: intervals in which events are missing, sorted and disjoint
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

/* Both ends belong to it. */
typedef struct Gap {
        uint64_t begin;
        uint64_t end;
} Gap;

/* GAPS is of Gap; those that touch [begin, end] become one with it. */
void gaps_add(GArray *gaps, uint64_t begin, uint64_t end);
/* True if a gap touches [begin, end]. */
bool gaps_touch(const GArray *gaps, uint64_t begin, uint64_t end);
/* Forgets those that touch [begin, end]. */
void gaps_remove(GArray *gaps, uint64_t begin, uint64_t end);
/* Makes one of the oldest, with what is between them, until there are MOST. */
void gaps_limit(GArray *gaps, guint most);
