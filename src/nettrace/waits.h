/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Waits: the stack with which each thread began to wait for a lock
 *
 * The runtime writes the stack with the event of the begin, the duration with that of the end.
 */

#include <glib.h>
#include <stddef.h>
#include <stdint.h>

/* Threads at a time that are remembered; the waits of later ones have no stack. */
#define NETTRACE_MAX_WAITS 4096
/* Addresses of a stack that are kept, from the leaf on. The runtime writes 100 at most. */
#define NETTRACE_MAX_WAIT_ADDRESSES 256

typedef struct NettraceWaits {
        GHashTable *by_thread; /* owned: capture thread (uint64_t, owned) -> GArray of uint64_t,
                                  owned */
        GArray *ended;         /* owned, borrowed by the caller: the stack of the newest end */
} NettraceWaits;

void nettrace_waits_init(NettraceWaits *waits);
void nettrace_waits_deinit(NettraceWaits *waits);
/* THREAD begins to wait. ADDRESSES are copied. */
void nettrace_waits_begin(NettraceWaits *waits, uint64_t thread, const uint64_t *addresses,
                          size_t n);
/* THREAD has waited: the stack of the begin, valid until the next call. *RET_N 0: not known. */
const uint64_t *nettrace_waits_end(NettraceWaits *waits, uint64_t thread, size_t *ret_n);
/* Events of THREAD are missing: its wait may be another. */
void nettrace_waits_forget(NettraceWaits *waits, uint64_t thread);
/* Threads get new numbers. */
void nettrace_waits_clear(NettraceWaits *waits);
