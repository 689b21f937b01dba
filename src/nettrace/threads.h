/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Threads: the lost events of each capture thread, by their sequence numbers
 *
 * A runtime numbers the events of each thread from 1 on, including events that it drops for lack of
 * room. A sequence point has the numbers of all threads. A thread that it does not list has ended,
 * and its id may return with number 1. Version 6 names threads by indexes, which blocks of threads
 * explain.
 */

#include "nettrace/cursor.h"

/* Most capture threads at a time, some 100 bytes each; most systems have at most 32 Ki. */
#define NETTRACE_MAX_THREADS (1u << 15)

/* A loss in [begin, end]: the times of the last event before it, and of the first after it. */
typedef struct NettraceLoss {
        uint64_t begin;
        uint64_t end;
        uint64_t count; /* or GAP_COUNT_UNKNOWN */
} NettraceLoss;

/* The description of a thread in a block of version 6. */
typedef struct NettraceThread {
        uint64_t index; /* first: the key */
        int32_t pid;    /* 0: not known */
        int32_t tid;
} NettraceThread;

typedef struct CaptureThread CaptureThread;

typedef struct NettraceThreads {
        GHashTable *capture; /* owned: id -> owned CaptureThread */
        CaptureThread *last; /* borrowed: the latest one found, or NULL */
        GHashTable *indexes; /* owned: index -> owned NettraceThread */
        uint64_t begin;      /* of the session, ns */
        uint64_t n_points;   /* sequence points so far */
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

/* Begins a sequence point; its entries follow, then its end. */
void nettrace_threads_begin_point(NettraceThreads *threads);
/* A sequence point reports that SEQUENCE of CAPTURE_THREAD is at least that by TIME, ns. */
NettraceCount nettrace_threads_check(NettraceThreads *threads, uint64_t capture_thread,
                                     uint32_t sequence, uint64_t time, NettraceLoss *ret_loss);
/* Ends a sequence point: threads without an entry have ended. */
void nettrace_threads_end_point(NettraceThreads *threads);
/* One thread has ended; all threads have ended. */
void nettrace_threads_remove(NettraceThreads *threads, uint64_t thread);
void nettrace_threads_clear(NettraceThreads *threads);

/* Takes the content of a block of kind THREAD. False: it is damaged, or has too many threads. */
bool nettrace_threads_describe(NettraceThreads *threads, NettraceCursor cursor);
/* NULL: the thread is not described. Borrowed. */
const NettraceThread *nettrace_threads_get(const NettraceThreads *threads, uint64_t index);
