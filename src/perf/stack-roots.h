/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stack roots: which stacks do not reach the begin of their thread
 *
 * perf cuts a stack that is too deep. And frame pointers lead nowhere from code that keeps none, in
 * libc for example: then the methods that called it are missing. Such a stack looks like one whose
 * outermost frame began the thread. It is recognised by others of its process: a stack with managed
 * frames shows the outermost frame of its thread. If a later sample of the thread has no managed
 * frame, and begins with a frame that no such stack begins with, then its callers are missing. A
 * stack that begins with a managed frame lacks callers, too, if one of its thread has begun with
 * native code, as threads do: the code of an exception filter can have no frame pointer.
 *
 * A stack with STACK_BEGIN_MARK lacks no callers.
 *
 * A caller in no mapping ends a stack: it was read from a register that is not a frame pointer.
 */

#include "perf/batch.h"
#include "perf/counts.h"
#include "perf/frames.h"
#include "perf/hash-index.h"

/* In the chain of a sample, among perf's markers: the copy of the stack ended there; or perf's
 * limit of frames did. */
#define STACK_CUT_MARK       (UINT64_MAX - 2999)
#define STACK_CUT_LIMIT_MARK (UINT64_MAX - 2998)
/* A stack ended where its thread begins. */
#define STACK_BEGIN_MARK (UINT64_MAX - 2995)
/* A stack by frame pointers ended in code that keeps none. */
#define STACK_TORN_MARK (UINT64_MAX - 2996)
/* Between two addresses: a caller is missing there. */
#define STACK_HIDDEN_MARK (UINT64_MAX - 2997)
/* The frame that is shown there. */
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
 * Judges and counts the samples of BATCH, whose frames are named; those that are not whole get a
 * frame more, as their root. False: no memory.
 */
bool stack_roots_mark(StackRoots *roots, Batch *batch, Frames *frames, Counts *counts);
