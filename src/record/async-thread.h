/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Async thread: the chain that one thread of a process continues, over time
 *
 * Chains are numbers; see async-chains.h. Times are ns of our CLOCK_MONOTONIC.
 */

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define ASYNC_NO_CHAIN            UINT32_MAX
#define ASYNC_THREAD_MAX_CONTEXTS 32

/* The state from TIME on. */
typedef struct AsyncState {
        uint64_t time;
        uint32_t chain;
        uint16_t n_done; /* of state machines: frames that have completed or failed */
        uint16_t depth;  /* contexts of the thread; the state is that of the innermost one */
} AsyncState;

typedef struct AsyncContext {
        uint64_t id; /* 0: of runtime async */
        uint32_t chain, n_done;
        guint first; /* of the thread's states: later ones can be of this context */
} AsyncContext;

typedef struct AsyncThread {
        int32_t tid;
        unsigned n_gaps; /* gaps of the process, at the last buffer */
        uint64_t last;   /* time of the last event */
        GArray *states;  /* owned, of AsyncState, by time */
        unsigned n_contexts;
        AsyncContext contexts[ASYNC_THREAD_MAX_CONTEXTS]; /* the last one is the innermost */
} AsyncThread;

AsyncThread *async_thread_new(int32_t tid, unsigned n_gaps);
/* DATA: the thread. */
void async_thread_free(gpointer data);

/* The innermost context; NULL: there is none. */
AsyncContext *async_thread_context(AsyncThread *thread);
/* Adds an innermost context. If there are too many, the outermost one is forgotten. */
void async_thread_push(AsyncThread *thread, uint32_t chain, uint64_t id);
/* From TIME on, the innermost context counts. */
void async_thread_note(AsyncThread *thread, uint64_t time);

/* The number of states at TIME or before. */
guint async_thread_find(const AsyncThread *thread, uint64_t time);
/* Gives the states of a context at DEPTH, from the index FIRST to before END, the chain LONGER in
 * the place of CHAIN; the last ones, if they are too many. */
void async_thread_lengthen(AsyncThread *thread, guint first, guint end, unsigned depth,
                           uint32_t chain, uint32_t longer);

/* Removes the states before TIME; the state at TIME stays. Returns their number. */
guint async_thread_forget(AsyncThread *thread, uint64_t time);
/* True if nothing is continued, as in an unknown thread. */
bool async_thread_is_empty(const AsyncThread *thread);
