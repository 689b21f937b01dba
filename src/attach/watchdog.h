/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Watchdog: finds a worker that does not read its session, though bytes wait there
 *
 * A target cannot end before its runtime has written what it has buffered. The holder has a copy of
 * the session's socket, only to look at it and to shut it down, and the worker counts in memory of
 * both what it takes. So the holder sees that a worker is late, whatever the reason is: it may be
 * stopped, traced, in an endless loop, or in a system call that hangs.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

typedef struct Watchdog Watchdog;

/* Seconds between two calls of watchdog_check(). */
#define WATCHDOG_INTERVAL_S 1

/* To be called before the worker is forked. NULL: there is no memory. */
Watchdog *watchdog_new(void);
/* NULL is fine. */
void watchdog_free(Watchdog *watchdog);

/* Where the worker counts the bytes that it takes. */
_Atomic uint64_t *watchdog_counter(const Watchdog *watchdog);
/* Takes over STREAM, a copy of the session's socket. */
void watchdog_watch(Watchdog *watchdog, int stream);
/* True: for some intervals now bytes have waited, and the worker has taken none. */
bool watchdog_check(Watchdog *watchdog);
/* The runtime can write no more, and does not wait any longer. */
void watchdog_shut(const Watchdog *watchdog);
