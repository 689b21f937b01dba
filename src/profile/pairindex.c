/* SPDX-License-Identifier: MIT */
#include "profile/pairindex.h"

#include <glib.h>

#define N_SLOTS_FIRST ((size_t)1 << 12)

typedef struct PairSlot {
        uint32_t a, b;
        uint32_t number; /* 0: free */
} PairSlot;

void pair_index_init(PairIndex *index)
{
        *index = (PairIndex){.slots = g_new0(PairSlot, N_SLOTS_FIRST), .n_slots = N_SLOTS_FIRST};
}

void pair_index_deinit(PairIndex *index)
{
        g_free(index->slots);
        *index = (PairIndex){};
}

/* The slot of a pair, or the free slot for it. */
static PairSlot *pair_index_find_slot(const PairIndex *index, uint32_t a, uint32_t b)
{
        uint64_t h = ((uint64_t)a << 32 | b) * UINT64_C(0x9e3779b97f4a7c15);
        size_t i;

        for (i = (size_t)(h ^ h >> 32);; i++) {
                PairSlot *slot = &index->slots[i & (index->n_slots - 1)];

                if (!slot->number || (slot->a == a && slot->b == b))
                        return slot;
        }
}

static void pair_index_grow(PairIndex *index)
{
        g_autofree PairSlot *old = index->slots;
        size_t i, n_old = index->n_slots;

        index->n_slots *= 2;
        index->slots = g_new0(PairSlot, index->n_slots);
        for (i = 0; i < n_old; i++)
                if (old[i].number)
                        *pair_index_find_slot(index, old[i].a, old[i].b) = old[i];
}

uint32_t pair_index_number(PairIndex *index, uint32_t a, uint32_t b, uint32_t number)
{
        PairSlot *slot = pair_index_find_slot(index, a, b);

        if (slot->number)
                return slot->number;
        *slot = (PairSlot){.a = a, .b = b, .number = number};
        if (++index->n_used > index->n_slots / 2)
                pair_index_grow(index);
        return number;
}
