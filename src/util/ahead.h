/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Ahead: a thread that fills batches while its caller works on those before
 *
 * Batches have numbers, and belong to the caller: between two calls it has one of them, and the
 * thread some others. Where there is one processor, or no thread is to be had, the caller's own
 * thread fills the next batch when it is asked for.
 */

#include <stdbool.h>

typedef struct Ahead Ahead;

/* Fills batch NUMBER. False if none follows. */
typedef bool (*AheadFillFn)(void *data, unsigned number);

/* With batches 0 to N_BATCHES - 1; NAME is the thread's. FILL is called from now on. */
Ahead *ahead_new(const char *name, unsigned n_batches, AheadFillFn fill, void *data);
/* Waits for the end of FILL. NULL is fine. */
void ahead_free(Ahead *ahead);

/* The next batch, which the caller has until the next call. There is none after the last. */
unsigned ahead_next(Ahead *ahead);
