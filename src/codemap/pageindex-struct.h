/* SPDX-License-Identifier: MIT */
#pragma once

/* The members of a page index, for pageindex*.c, which explain them */

#include "codemap/block.h"
#include "codemap/pageindex.h"
#include "util/hash.h"

/* A block of a page with the time at which it begins: a search for a time reads only these. */
typedef struct BlockSpan {
        uint64_t begin; /* up to the next span's begin */
        Block *block;   /* owned */
} BlockSpan;

typedef struct IndexPage {
        uint64_t number;
        union {
                Block *one; /* while there is only one block, which begins at 0 */
                BlockSpan *many;
        };
        uint32_t n_blocks; /* 0: a free slot */
        uint32_t n_allocated;
} IndexPage;

/* Pages of one size: a hash table by number. */
typedef struct PageTier {
        unsigned page_shift;
        unsigned unit_shift;
        IndexPage *pages; /* open addressing */
        unsigned n_bits;
        size_t n_pages;
} PageTier;

struct PageIndex {
        const BodyStore *store; /* borrowed */
        Account *account;       /* borrowed, the store's */
        PageTier tiers[2];
};

static inline const Block *page_block_const(const IndexPage *page, uint32_t b)
{
        return page->n_allocated ? page->many[b].block : page->one;
}

static inline uint64_t page_begin(const IndexPage *page, uint32_t b)
{
        return page->n_allocated ? page->many[b].begin : 0;
}

/*
 * This product spreads consecutive pages evenly, unlike hash_u64(). Because of the secret, nobody
 * can choose pages that share a slot.
 */
static inline size_t page_hash(uint64_t number, unsigned n_bits)
{
        return (size_t)(((number ^ hash_seed[0]) * UINT64_C(0x9e3779b97f4a7c15)) >> (64 - n_bits));
}

/* The page, or NULL. */
static inline IndexPage *tier_find(const PageTier *tier, uint64_t number)
{
        size_t mask = ((size_t)1 << tier->n_bits) - 1, i;

        if (!tier->pages)
                return NULL;
        for (i = page_hash(number, tier->n_bits); tier->pages[i].n_blocks; i = (i + 1) & mask)
                if (tier->pages[i].number == number)
                        return &tier->pages[i];
        return NULL;
}

static inline uint16_t tier_unit(const PageTier *tier, uint64_t address)
{
        return (uint16_t)((address & ((UINT64_C(1) << tier->page_shift) - 1)) >> tier->unit_shift);
}

/* The block that contains TIME. */
static inline uint32_t page_block_at(const IndexPage *page, uint64_t time)
{
        uint32_t low = 0, high = page->n_blocks;

        if (page_begin(page, high - 1) <= time)
                return high - 1;
        while (high - low > 1) {
                uint32_t middle = low + (high - low) / 2;

                if (page_begin(page, middle) <= time)
                        low = middle;
                else
                        high = middle;
        }
        return low;
}
