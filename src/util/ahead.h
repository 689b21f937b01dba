/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ahead: a thread that fills batches while its caller works on earlier ones
 *
 * Batches have numbers, and belong to the caller, which has one of them between two calls, while
 * the thread has others. With one processor, or without a thread, the caller's own thread fills the
 * next batch on demand.
 */

#include <stdbool.h>

typedef struct Ahead Ahead;

/* Fills batch NUMBER. False after the last one. */
typedef bool (*AheadFillFn)(void *data, unsigned number);

/* With batches 0 to N_BATCHES - 1; NAME is the thread's. FILL is called from now on. */
Ahead *ahead_new(const char *name, unsigned n_batches, AheadFillFn fill, void *data);
/* Waits for the end of FILL. NULL is fine. */
void ahead_free(Ahead *ahead);

/* The next batch, which the caller has until the next call. None after the last. */
unsigned ahead_next(Ahead *ahead);
