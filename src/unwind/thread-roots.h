/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * ThreadRoots: the outermost caller of most stacks of a thread by frame pointers
 *
 * A thread begins at one place. A stack that ends elsewhere, in code that keeps no frame pointer,
 * lacks callers.
 */

#include <glib.h>
#include <stdint.h>

/* Maximum of pairs of a thread and an address. */
#define THREAD_ROOTS_MAX (1u << 20)

typedef struct ThreadRoots {
        GHashTable *counts; /* owned: of ThreadRoot, also its key */
        GHashTable *most;   /* owned: thread -> owned ThreadRoot with the most stacks */
} ThreadRoots;

void thread_roots_init(ThreadRoots *roots);
void thread_roots_deinit(ThreadRoots *roots);
void thread_roots_note(ThreadRoots *roots, int32_t tid, uint64_t address);
/* 0: no stack of the thread was noted. */
uint64_t thread_roots_find(const ThreadRoots *roots, int32_t tid);
