/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stack roots: finds stacks that do not reach the begin of their thread
 *
 * perf cuts deep stacks. Code without frame pointers, for example in libc, breaks the chain of
 * frame pointers, so the methods that called it are missing. Such a stack looks complete. It is
 * recognised by other stacks:
 *
 * - A stack with managed frames shows the outermost frame of its thread. If a later sample of the
 *   thread has no managed frame, and its outermost frame is not the outermost frame of any such
 *   stack of the process, then its callers are missing.
 * - Threads begin in native code. If a stack of the thread has begun so, then a stack that begins
 *   with a managed frame lacks callers. Code of an exception filter, for example, can have no frame
 *   pointer.
 *
 * A stack with STACK_BEGIN_MARK lacks no callers.
 *
 * A caller in no mapping ends a stack: the walk read it from a register that is not a frame
 * pointer.
 */

#include "perf/batch.h"
#include "perf/chain.h"
#include "perf/counts.h"
#include "perf/frames.h"
#include "perf/hash-index.h"

/* The frame at STACK_HIDDEN_MARK. */
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
