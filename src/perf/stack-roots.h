/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stack roots: finds stacks that do not reach the begin of their thread
 *
 * perf cuts deep stacks. Code without frame pointers, for example in libc, breaks the chain of
 * frame pointers, so the methods that called it are missing. Such a stack looks complete. It is
 * recognised by other stacks:
 *
 * A stack with STACK_BEGIN_MARK lacks no callers.
 *
 * A caller in no mapping ends a stack: it was read from a register that is not a frame pointer.
 */

#include "perf/batch.h"
#include "perf/counts.h"
#include "perf/frames.h"
#include "perf/hash-index.h"

/*
 * Marks in a sample's chain, beside perf's markers: the copy of the stack ended, or perf's limit of
 * frames was reached.
 */
#define STACK_CUT_MARK       (UINT64_MAX - 2999)
#define STACK_CUT_LIMIT_MARK (UINT64_MAX - 2998)
/* A stack ended where its thread begins. */
#define STACK_BEGIN_MARK (UINT64_MAX - 2995)
/* A stack by frame pointers ended in code that keeps none. */
#define STACK_TORN_MARK (UINT64_MAX - 2996)
/* The mark between two addresses where a caller is missing. */
#define STACK_HIDDEN_MARK (UINT64_MAX - 2997)
/* The frame shown there. */
#define STACK_HIDDEN_NAME "[caller unknown: no frame pointer]"

/* Threads with managed frames, and the outermost frames of their stacks. */
typedef struct StackRoots {
        struct StackRootRow *rows; /* owned */
        uint32_t n;
        size_t n_rows;
        HashIndex index;
} StackRoots;

void stack_roots_deinit(StackRoots *roots);

/*
 * Judges and counts the stacks of BATCH, whose frames are named. Adds a frame as the root of an
 * incomplete stack. False: no memory.
 */
bool stack_roots_mark(StackRoots *roots, Batch *batch, Frames *frames, Counts *counts);
