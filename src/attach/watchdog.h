/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Watchdog: detects a worker that does not read its session although bytes wait
 *
 * A target cannot exit before its runtime has written its buffers. The holder has a copy of the
 * session's socket, only to check it and to shut it down, and the worker counts the bytes that it
 * reads in shared memory. So the holder detects a late worker for any reason: it may be stopped,
 * traced, in an endless loop, or in a system call that hangs.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Watchdog Watchdog;

/* Seconds between two calls of watchdog_check(). */
#define WATCHDOG_INTERVAL_S 1

/* Call this before forking the worker. NULL: out of memory. */
Watchdog *watchdog_new(void);
/* NULL is fine. */
void watchdog_free(Watchdog *watchdog);

/* The counter of the bytes that the worker reads. */
_Atomic uint64_t *watchdog_counter(const Watchdog *watchdog);
/* Takes over STREAM, a copy of the session's socket. */
void watchdog_watch(Watchdog *watchdog, int stream);
/* True if bytes have waited for some intervals, and the worker has read none. */
bool watchdog_check(Watchdog *watchdog);
/* Shuts the socket down: the runtime can write no more, and stops waiting. */
void watchdog_shut(const Watchdog *watchdog);
