/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Threads: how many events each capture thread has lost, by their sequence numbers
 *
 * A runtime counts the events of each thread, from 1 on, also those for which it has no room. A
 * point of sequence has the numbers of all threads; one that is not in it is over, and its id may
 * come again with 1. Version 6 names threads by indexes, which blocks of threads explain.
 */

#include "nettrace/cursor.h"

/* Capture threads at a time that are remembered, some 100 bytes each; most systems have at most 32
 * Ki at a time. */
#define NETTRACE_MAX_THREADS (1u << 15)

/* Events are missing in [begin, end]: the time of the last one before, and of the first after. */
typedef struct NettraceLoss {
        uint64_t begin;
        uint64_t end;
        uint64_t count; /* or GAP_COUNT_UNKNOWN */
} NettraceLoss;

/* A thread as a block of version 6 describes it. */
typedef struct NettraceThread {
        uint64_t index; /* first: the key */
        int32_t pid;    /* 0: not known */
        int32_t tid;
} NettraceThread;

typedef struct CaptureThread CaptureThread;

typedef struct NettraceThreads {
        GHashTable *capture; /* owned: id -> owned CaptureThread */
        CaptureThread *last; /* borrowed: the one that was looked up last, or NULL */
        GHashTable *indexes; /* owned: index -> owned NettraceThread */
        uint64_t begin;      /* of the session, ns */
        uint64_t n_points;   /* of sequence */
} NettraceThreads;

void nettrace_threads_init(NettraceThreads *threads);
void nettrace_threads_deinit(NettraceThreads *threads);

typedef enum NettraceCount {
        NETTRACE_COUNT_WHOLE,
        NETTRACE_COUNT_LOSS,     /* RET_LOSS is set */
        NETTRACE_COUNT_TOO_MANY, /* threads */
} NettraceCount;

/* Counts an event of CAPTURE_THREAD at TIME, ns. */
NettraceCount nettrace_threads_count(NettraceThreads *threads, uint64_t capture_thread,
                                     uint32_t sequence, uint64_t time, NettraceLoss *ret_loss);

/* A point of sequence begins; its entries follow, then its end. */
void nettrace_threads_begin_point(NettraceThreads *threads);
/* SEQUENCE of CAPTURE_THREAD is at least that by TIME, ns. */
NettraceCount nettrace_threads_check(NettraceThreads *threads, uint64_t capture_thread,
                                     uint32_t sequence, uint64_t time, NettraceLoss *ret_loss);
/* Threads that had no entry are over. */
void nettrace_threads_end_point(NettraceThreads *threads);
/* One thread is over; after that all are. */
void nettrace_threads_remove(NettraceThreads *threads, uint64_t thread);
void nettrace_threads_clear(NettraceThreads *threads);

/* Takes the content of a block of kind THREAD. False: it is damaged, or has too many threads. */
bool nettrace_threads_describe(NettraceThreads *threads, NettraceCursor cursor);
/* NULL: not described. Borrowed. */
const NettraceThread *nettrace_threads_get(const NettraceThreads *threads, uint64_t index);
