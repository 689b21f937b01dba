/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Async chains: which chain of awaiting methods a thread continued at a time, by the logs of the
 * holder's workers
 *
 * A thread has a context for each chain that it continues; a continuation can run another one. The
 * innermost context counts. Where buffers are missing, nothing is known; nor after the last event
 * of a thread, until the log tells that all of its events have come.
 *
 * The logs are read while they are written. The segments that are read are removed, and what is too
 * old for a question is forgotten: a recording without an end needs a bounded memory.
 */

#include "attach/async-log.h"

#include <stdbool.h>

/* Frames of all chains that are distinct; later chains are left out. */
#define ASYNC_CHAINS_MAX_FRAMES (1u << 22)

/* Changes of all threads that are not forgotten; what came later is not known. */
#define ASYNC_CHAINS_MAX_STATES (1u << 23)

/* A distinct chain of a process. */
typedef struct AsyncChain {
        uint32_t first, n; /* frames, the innermost first: see async_chain_addresses() */
        int32_t pid;
        uint8_t index;   /* of runtime async: of the wrapper that continues the first frame */
        bool is_machine; /* of state machines: addresses are those of MoveNext, else where to return
                          */
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

/* Reads what has come, and removes the segments that are read. */
void async_chains_update(AsyncChains *chains);
/* No chain has been read. */
bool async_chains_are_empty(const AsyncChains *chains);
/*
 * The same, until all events before TIME have come, for LIMIT us at most. False: events of a log
 * have not; this log is not waited for again, until it tells of later events.
 */
bool async_chains_await(AsyncChains *chains, uint64_t time, int64_t limit);
/* Nobody asks for what was before TIME, in ns of CLOCK_MONOTONIC. */
void async_chains_forget(AsyncChains *chains, uint64_t time);

/* False: thread TID of PID continued none at TIME, or it is not known. */
bool async_chains_find(const AsyncChains *chains, int32_t pid, int32_t tid, uint64_t time,
                       AsyncPlace *ret);
const AsyncChain *async_chains_get(const AsyncChains *chains, uint32_t number);
const uint64_t *async_chain_addresses(const AsyncChains *chains, const AsyncChain *chain);
