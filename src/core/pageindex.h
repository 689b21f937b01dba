/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Page index: which body is at an address at a time
 *
 * Knows bodies by their number in the store; pageindex.c explains the structure.
 */

#include "core/body.h"

#include <glib.h>

typedef struct PageIndex PageIndex;

PageIndex *pageindex_new(const BodyStore *store);
void pageindex_free(PageIndex *index);

/* The body's start, size, since and until must be set; only until may change afterwards. */
void pageindex_add(PageIndex *index, uint32_t number);
void pageindex_remove(PageIndex *index, uint32_t number);

/* The body alive at TIME that covers ADDRESS, or NULL. */
Body *pageindex_at(const PageIndex *index, uint64_t address, uint64_t time);

/* One of many lookups. */
typedef struct Lookup {
        const PageIndex *index;
        uint64_t address;
        uint64_t time;
        Body *body; /* the answer: as of pageindex_at() */
} Lookup;

/* In a large map much faster than one by one; in any order. */
void pageindex_look_up(Lookup *lookups, size_t n);

/*
 * Of the bodies that ever covered ADDRESS: the last one that ended at or before TIME, and the first
 * that began after it. Either may be NULL.
 */
void pageindex_neighbours(const PageIndex *index, uint64_t address, uint64_t time,
                          Body **ret_before, Body **ret_after);

/* Appends each body that ever overlapped [first, last] and was alive after TIME, once. */
void pageindex_overlaps(const PageIndex *index, uint64_t first, uint64_t last, uint64_t time,
                        GPtrArray *out);

/* True if any body ever overlapped [first, last]. */
bool pageindex_was_used(const PageIndex *index, uint64_t first, uint64_t last);

/* Bytes that the next pageindex_add() may take at once, beyond a few for each page. */
size_t pageindex_growth(const PageIndex *index);
