/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Waits: the stack with which each thread began to wait for a lock
 *
 * The runtime writes the stack with the begin, and the duration with the end.
 */

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/* Most threads at a time; waits of further threads have no stack. */
#define NETTRACE_MAX_WAITS 4096
/* Addresses kept of a stack, from the leaf on. The runtime writes 100 at most. */
#define NETTRACE_MAX_WAIT_ADDRESSES 256

typedef struct NettraceWaits {
        GHashTable *by_thread; /* owned: capture thread (uint64_t, owned) -> GArray of uint64_t,
                                  owned */
        GArray *ended;         /* owned, lent to the caller: the stack of the newest end */
} NettraceWaits;

void nettrace_waits_init(NettraceWaits *waits);
void nettrace_waits_deinit(NettraceWaits *waits);
/* THREAD begins to wait. ADDRESSES are copied. */
void nettrace_waits_begin(NettraceWaits *waits, uint64_t thread, const uint64_t *addresses,
                          size_t n);
/*
 * THREAD has waited: returns the stack of the begin, valid until the next call. *RET_N 0: not
 * known.
 */
const uint64_t *nettrace_waits_end(NettraceWaits *waits, uint64_t thread, size_t *ret_n);
/* Events of THREAD are missing: its wait may have ended. */
void nettrace_waits_forget(NettraceWaits *waits, uint64_t thread);
/* Threads get new numbers: all waits are dropped. */
void nettrace_waits_clear(NettraceWaits *waits);
