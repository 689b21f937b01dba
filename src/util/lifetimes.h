/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Lifetimes: finds the time at which most of several things were alive
 *
 * A runtime unloads all of its code at its end, so the last moment of a process has no code. So the
 * perf map of a process that has exited is of the moment at which most of its code was alive.
 */

#include <glib.h>
#include <stdint.h>

typedef struct Lifetimes Lifetimes;

Lifetimes *lifetimes_new(void);
void lifetimes_free(Lifetimes *lifetimes);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lifetimes, lifetimes_free)

/* Something was alive from BEGIN up to, not including, END. */
void lifetimes_add(Lifetimes *lifetimes, uint64_t begin, uint64_t end);
/* The first moment at which most were alive; OTHERWISE if nothing was added. */
uint64_t lifetimes_fullest(Lifetimes *lifetimes, uint64_t otherwise);
