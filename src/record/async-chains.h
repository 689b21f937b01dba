/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Async chains: which chain of awaiting methods a thread continued at a time, by the logs of the
 * holder's workers
 *
 * A thread has a context for each chain that it continues; a continuation can run another one. The
 * innermost context counts. Where buffers are missing, and after the last one of a program that has
 * ended by itself, nothing is known.
 */

#include "attach/async-log.h"

#include <stdbool.h>

/* Bytes of all logs that are read; later ones are left out. */
#define ASYNC_CHAINS_MAX_BYTES (UINT64_C(256) << 20)
/* Frames of all chains that are distinct; later chains are left out. */
#define ASYNC_CHAINS_MAX_FRAMES (1u << 22)

/* Changes of all threads; what came later is not known. */
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

/* Reads all logs in DIRECTORY. NULL: there is none. */
AsyncChains *async_chains_new(const char *directory);
/* NULL is fine. */
void async_chains_free(AsyncChains *chains);

bool async_chains_are_empty(const AsyncChains *chains);
/* False: thread TID of PID continued none at TIME, or it is not known. */
bool async_chains_find(const AsyncChains *chains, int32_t pid, int32_t tid, uint64_t time,
                       AsyncPlace *ret);
const AsyncChain *async_chains_get(const AsyncChains *chains, uint32_t number);
const uint64_t *async_chain_addresses(const AsyncChains *chains, const AsyncChain *chain);
