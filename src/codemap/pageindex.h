/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Page index: the body at a given address and time
 *
 * The index knows bodies by their numbers in the store; pageindex.c explains the structure.
 */

#include "codemap/body.h"

#include <glib.h>

typedef struct PageIndex PageIndex;

PageIndex *pageindex_new(const BodyStore *store);
void pageindex_free(PageIndex *index);

/* The body's start, size, since and until must be set; only until may change later. */
void pageindex_add(PageIndex *index, uint32_t number);
void pageindex_remove(PageIndex *index, uint32_t number);

/* The body alive at TIME that covers ADDRESS, or NULL. */
Body *pageindex_at(const PageIndex *index, uint64_t address, uint64_t time);

/* One lookup of many. */
typedef struct Lookup {
        const PageIndex *index;
        uint64_t address;
        uint64_t time;
        Body *body; /* set by pageindex_look_up(), like the result of pageindex_at() */
} Lookup;

/* LOOKUPS are in any order. In a large map this is much faster than one by one. */
void pageindex_look_up(Lookup *lookups, size_t n);

/*
 * Sets the last body at ADDRESS that ended at or before TIME, and the first that began after it.
 * Either may be NULL.
 */
void pageindex_neighbours(const PageIndex *index, uint64_t address, uint64_t time,
                          Body **ret_before, Body **ret_after);

/*
 * Every body that overlaps [first, last] and was alive after TIME, each once. Owned; NULL if there
 * are none, as usual.
 */
GPtrArray *pageindex_overlaps(const PageIndex *index, uint64_t first, uint64_t last, uint64_t time);

/*
 * The place where a walk through the bodies at an address continues: at bodies that began earlier
 * than SINCE, or at SINCE with a lower number.
 */
typedef struct HistoryPlace {
        uint64_t since;
        uint32_t number;
} HistoryPlace;

#define HISTORY_NEWEST ((HistoryPlace){UINT64_MAX, UINT32_MAX})

/*
 * Appends the next bodies that ever covered ADDRESS, newest first, at most MOST of them, and moves
 * PLACE. Among bodies of one moment, the one with the highest number is first. A step takes a
 * bounded time: it may find fewer bodies, or none. False: the walk is complete.
 */
bool pageindex_walk(const PageIndex *index, uint64_t address, HistoryPlace *place, guint most,
                    GPtrArray *out);

/*
 * Appends the newest bodies that ever covered ADDRESS, newest first, at most MOST of them. Returns
 * how many there are; the count stops at PAGEINDEX_MAX_COUNT.
 */
#define PAGEINDEX_MAX_COUNT 65535u
size_t pageindex_newest(const PageIndex *index, uint64_t address, guint most, GPtrArray *out);

/* True if any body ever overlapped [first, last]. */
bool pageindex_was_used(const PageIndex *index, uint64_t first, uint64_t last);

/* The most bytes that the next pageindex_add() allocates, besides a few for each page. */
size_t pageindex_growth(const PageIndex *index);
