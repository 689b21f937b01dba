/* SPDX-License-Identifier: MIT */
#pragma once

/* Collections: the garbage collections of processes, from the logs of the holder's workers */

#include "attach/collection-log.h"

#include <stdbool.h>

typedef struct Collections Collections;

/* Bytes of all logs; later entries are left out. */
#define COLLECTIONS_MAX_BYTES (UINT64_C(128) << 20)

/* Reads all logs in DIRECTORY. */
Collections *collections_new(const char *directory);
void collections_free(Collections *collections);

/*
 * The collection for which the thread TID of PID stopped the program at TIME. TID 0 is for threads
 * that only collect: the collection of PID at TIME. NULL: none, or not known. Owned by COLLECTIONS.
 */
const CollectionLogEntry *collections_find(const Collections *collections, int32_t pid, int32_t tid,
                                           uint64_t time);

enum { COLLECTIONS_GENERATIONS = 3 };

typedef struct CollectionTotals {
        uint64_t n[COLLECTIONS_GENERATIONS]; /* collections, by generation */
        uint64_t n_background;               /* of these */
        uint64_t n_induced;                  /* of these: the program asked for them */
        uint64_t paused, longest;            /* ns: all pauses; one of them */
        unsigned n_processes;                /* that have collected */
} CollectionTotals;

/* Calls FN for each collection and each pause, in no order. */
void collections_each(const Collections *collections,
                      void (*fn)(const CollectionLogEntry *entry, void *data), void *data);
void collections_sum(const Collections *collections, CollectionTotals *ret_totals);
