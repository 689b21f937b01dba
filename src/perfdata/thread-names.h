/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ThreadNames: the name of each thread, by time
 *
 * perf's records of names and forks are not in order of time: take all of them before the first
 * lookup. A new thread inherits the name of its parent thread.
 *
 * Memory is bounded: records after THREAD_MAX_NAMES are dropped.
 */

#include <glib.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define THREAD_MAX_NAMES (1u << 21)

typedef struct ThreadNames {
        GArray *rows;        /* owned: by thread and time, once sorted */
        GStringChunk *texts; /* owned: distinct names */
        bool is_sorted;
} ThreadNames;

ThreadNames *thread_names_new(void);
/* NULL is fine. */
void thread_names_free(ThreadNames *names);

/* Takes a record other than a sample; ignores records of other types. */
void thread_names_take(ThreadNames *names, const struct perf_event_header *record, uint64_t time);

/* The name of thread TID at TIME, owned by NAMES; NULL: not known. */
const char *thread_names_find(ThreadNames *names, int32_t tid, uint64_t time);
