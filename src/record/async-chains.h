/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Async chains: the chain of awaiting methods that a thread continued at a time, from the logs of
 * the holder's workers
 *
 * A thread has a context for each chain that it continues; a continuation can run another one. The
 * innermost context counts. Methods that begin to await a state machine late count from its begin
 * on: they are appended while it runs, or its next resumption has them. After a missing buffer,
 * nothing is known; nor after the last event of a thread, until the log shows that all of its
 * events have arrived.
 *
 * The logs are read while they are written. Segments that were read are removed, and states that
 * are too old for a question are dropped: a recording without an end needs a bounded memory.
 */

#include "attach/async-log.h"

#include <stdbool.h>

/* Frames of all distinct chains; later chains are left out. */
#define ASYNC_CHAINS_MAX_FRAMES (1u << 22)

/* States of all threads; later ones are not known. */
#define ASYNC_CHAINS_MAX_STATES (1u << 23)

/* A distinct chain of a process. */
typedef struct AsyncChain {
        uint32_t first, n; /* frames, the innermost first: see async_chain_addresses() */
        int32_t pid;
        uint8_t index;   /* of runtime async: of the wrapper that continues the first frame */
        bool is_machine; /* of state machines: addresses are those of MoveNext; false: return
                          * addresses */
} AsyncChain;

typedef struct AsyncPlace {
        uint32_t chain;  /* its number */
        uint32_t n_done; /* of state machines: frames that have completed or failed */
} AsyncPlace;

typedef struct AsyncChains AsyncChains;

/* Reads the logs in DIRECTORY, see async_chains_update(). NULL: there is no such directory. */
AsyncChains *async_chains_new(const char *directory);
/* NULL is fine. */
void async_chains_free(AsyncChains *chains);

/* Reads new entries, and removes the segments that were read. */
void async_chains_update(AsyncChains *chains);
/* True if no chain has been read. */
bool async_chains_are_empty(const AsyncChains *chains);
/* Like the update, until all events before TIME have been read, for LIMIT us at most. False: a log
 * lacks events; it is not waited for again, until it has later events. */
bool async_chains_await(AsyncChains *chains, uint64_t time, int64_t limit);
/* No question comes about times before TIME, in ns of CLOCK_MONOTONIC. */
void async_chains_forget(AsyncChains *chains, uint64_t time);

/* False: thread TID of PID continued no chain at TIME, or it is not known. */
bool async_chains_find(const AsyncChains *chains, int32_t pid, int32_t tid, uint64_t time,
                       AsyncPlace *ret);
const AsyncChain *async_chains_get(const AsyncChains *chains, uint32_t number);
const uint64_t *async_chain_addresses(const AsyncChains *chains, const AsyncChain *chain);
