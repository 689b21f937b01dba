/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Pair index: a number for each pair of numbers
 */

#include <stddef.h>
#include <stdint.h>

typedef struct PairIndex {
        struct PairSlot *slots; /* owned */
        size_t n_slots;         /* a power of two */
        size_t n_used;
} PairIndex;

void pair_index_init(PairIndex *index);
void pair_index_deinit(PairIndex *index);

/* The number of the pair (A, B). A new pair gets NUMBER, which must not be 0. */
uint32_t pair_index_number(PairIndex *index, uint32_t a, uint32_t b, uint32_t number);
