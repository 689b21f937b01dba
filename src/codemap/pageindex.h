/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Page index: which body is at a given address and time
 *
 * Knows bodies by their numbers in the store; pageindex.c explains the structure.
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

/* One of many lookups. */
typedef struct Lookup {
        const PageIndex *index;
        uint64_t address;
        uint64_t time;
        Body *body; /* set by pageindex_look_up(), to what pageindex_at() returns */
} Lookup;

/* In any order; in a large map much faster than one by one. */
void pageindex_look_up(Lookup *lookups, size_t n);

/*
 * Sets the last body at ADDRESS that ended at or before TIME, and the first that began after it.
 * Either may be NULL.
 */
void pageindex_neighbours(const PageIndex *index, uint64_t address, uint64_t time,
                          Body **ret_before, Body **ret_after);

/*
 * Every body that overlaps [first, last] and was alive after TIME, each once. Owned; NULL: there is
 * none, as mostly.
 */
GPtrArray *pageindex_overlaps(const PageIndex *index, uint64_t first, uint64_t last, uint64_t time);

/* Where a walk through the bodies at an address goes on: at those that began earlier than SINCE, or
 * then and have a lower number. */
typedef struct HistoryPlace {
        uint64_t since;
        uint32_t number;
} HistoryPlace;

#define HISTORY_NEWEST ((HistoryPlace){UINT64_MAX, UINT32_MAX})

/*
 * Appends the next bodies that ever covered ADDRESS, newest first, at most MOST of them, and moves
 * PLACE. Among bodies of one moment, the one with the highest number is first. A step takes little
 * time: it may find fewer, or none. False: these were the last ones.
 */
bool pageindex_walk(const PageIndex *index, uint64_t address, HistoryPlace *place, guint most,
                    GPtrArray *out);

/*
 * Appends the newest bodies that ever covered ADDRESS, newest first, at most MOST of them. Returns
 * how many there are, or PAGEINDEX_MAX_COUNT if there are so many or more: then it does not look
 * for all of them.
 */
#define PAGEINDEX_MAX_COUNT 65535u
size_t pageindex_newest(const PageIndex *index, uint64_t address, guint most, GPtrArray *out);

/* True if any body ever overlapped [first, last]. */
bool pageindex_was_used(const PageIndex *index, uint64_t first, uint64_t last);

/* Bytes that the next pageindex_add() may take, besides a few for each page. */
size_t pageindex_growth(const PageIndex *index);
