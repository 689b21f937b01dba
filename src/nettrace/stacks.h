/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Stacks: call stacks, by the numbers that a stream gives them
 *
 * A stream has each stack once, before the events that have it. A number is valid until the next
 * point of sequence.
 */

#include "nettrace/framing.h"

/* Addresses that are kept at a time; later stacks are empty. .NET's points are 10 MB apart. */
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

/* Takes a block of kind STACK, with addresses of N_POINTER bytes. False: it is damaged, or
 * addresses have another size than 4 or 8. */
bool nettrace_stacks_take(NettraceStacks *stacks, const NettraceBlock *block, uint32_t n_pointer);
/* The addresses of a stack, the leaf first; valid until the next block. None: it is not known. */
const uint64_t *nettrace_stacks_get(const NettraceStacks *stacks, uint32_t id, size_t *ret_n);
