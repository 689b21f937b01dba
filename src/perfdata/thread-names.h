/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ThreadNames: the name of each thread, by time
 *
 * They come from perf's records of names and forks, which are not in order of time: all must be
 * taken before the first question. A new thread has the name of the thread that made it.
 *
 * Memory is bounded: records after THREAD_MAX_NAMES are left out.
 */

#include <glib.h>
#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>

#define THREAD_MAX_NAMES (1u << 21)

typedef struct ThreadNames {
        GArray *rows;        /* owned: by thread and time, once sorted */
        GStringChunk *texts; /* owned: each name once */
        bool is_sorted;
} ThreadNames;

ThreadNames *thread_names_new(void);
/* NULL is fine. */
void thread_names_free(ThreadNames *names);

/* Takes a record that is not a sample; ignores others than those of names and forks. */
void thread_names_take(ThreadNames *names, const struct perf_event_header *record, uint64_t time);

/* The name of thread TID at TIME, valid as long as NAMES; NULL: not known. */
const char *thread_names_find(ThreadNames *names, int32_t tid, uint64_t time);
