/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Collections: when which process collected garbage, by the logs of the holder's workers
 *
 * The logs are read while they are written, see target-logs.h, and a recording without an end
 * forgets what is too old for a question.
 */

#include "attach/collection-log.h"

#include <stdbool.h>

typedef struct Collections Collections;

/* Bytes of all entries that are not forgotten; later ones are left out. */
#define COLLECTIONS_MAX_BYTES (UINT64_C(128) << 20)

/* ns: the writer of an entry that goes on may have ended without its end, as after SIGKILL. */
#define COLLECTIONS_MAX_OPEN (UINT64_C(30) * 1000000000)

/* The time until which ENTRY is known to go on. */
static inline uint64_t collection_known_end(const CollectionLogEntry *entry)
{
        return entry->end == COLLECTION_LOG_OPEN ? entry->begin + COLLECTIONS_MAX_OPEN : entry->end;
}

/* Reads all logs in DIRECTORY, see collections_update(). */
Collections *collections_new(const char *directory);
void collections_free(Collections *collections);

/* Reads the entries that have come. Pointers to entries are invalid then. */
void collections_update(Collections *collections);
/* The same. Nobody asks for a time before TIME, in ns of CLOCK_MONOTONIC: what ended before is kept
 * in the totals only. All was asked for the times before ASKED: a collection that began before and
 * is not known yet is late. */
void collections_forget(Collections *collections, uint64_t time, uint64_t asked);

/*
 * The collection for which the thread TID of PID stopped the program at TIME. With TID 0, for
 * threads that only collect: the one that PID was making at TIME. NULL: none, or not known. Owned
 * by COLLECTIONS. The end of an entry can be COLLECTION_LOG_OPEN; COLLECTIONS_MAX_OPEN after its
 * begin, such an entry is not known to go on.
 */
const CollectionLogEntry *collections_find(const Collections *collections, int32_t pid, int32_t tid,
                                           uint64_t time);

enum { COLLECTIONS_GENERATIONS = 3 };

typedef struct CollectionTotals {
        uint64_t n[COLLECTIONS_GENERATIONS]; /* collections, by generation */
        uint64_t n_background;               /* of these */
        uint64_t n_induced;                  /* of these: the program asked for them */
        uint64_t paused, longest;            /* ns: all pauses; one of them */
        uint64_t n_late;                     /* of these: see collections_forget() */
        unsigned n_processes;                /* that have collected */
} CollectionTotals;

/* Calls FN for each collection and each pause that is not forgotten, in no order. */
void collections_each(const Collections *collections,
                      void (*fn)(const CollectionLogEntry *entry, void *data), void *data);
/* Of all that have ended, also of those that are forgotten. */
void collections_sum(const Collections *collections, CollectionTotals *ret_totals);
