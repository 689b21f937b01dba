/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stacks: call stacks, by their numbers in a stream
 *
 * A stream has each stack once, before its events. A number is valid until the next sequence point.
 */

#include "nettrace/framing.h"

/* Most addresses kept; later stacks are empty. .NET's sequence points are 10 MB apart. */
#define NETTRACE_MAX_ADDRESSES (8u << 20)

typedef struct NettraceStacks {
        GHashTable *by_id; /* owned: number -> index in `stacks` */
        GArray *stacks;    /* owned, of NettraceStack */
        GArray *addresses; /* owned, of uint64_t: of all stacks */
} NettraceStacks;

void nettrace_stacks_init(NettraceStacks *stacks);
void nettrace_stacks_deinit(NettraceStacks *stacks);
/* Forgets all numbers. */
void nettrace_stacks_clear(NettraceStacks *stacks);

/*
 * Takes a block of kind STACK, with addresses of N_POINTER bytes. False: it is damaged, or the size
 * of an address is neither 4 nor 8.
 */
bool nettrace_stacks_take(NettraceStacks *stacks, const NettraceBlock *block, uint32_t n_pointer);
/*
 * The addresses of a stack, the leaf first; valid until the next block. *RET_N 0: the stack is not
 * known.
 */
const uint64_t *nettrace_stacks_get(const NettraceStacks *stacks, uint32_t id, size_t *ret_n);
