/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Block: the bodies of a page in a part of its time, in order of `since`
 *
 * The columns are stored one after the other, so that a search reads few cache lines. A search
 * reads the addresses on the page first, because they rule out all but a few entries.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* One allocation: this head, then the columns first, width, number, since of n_allocated entries.
 */
typedef struct Block {
        uint32_t n_entries;
        uint32_t n_allocated;
} Block;

typedef struct BlockEntry {
        uint64_t since;
        uint32_t number; /* of the body */
        uint16_t first;  /* in units from the page's start */
        uint16_t width;  /* units after the first one */
} BlockEntry;

#define BLOCK_NONE UINT32_MAX

static inline size_t block_size(uint32_t n_allocated)
{
        return sizeof(Block) + n_allocated * sizeof(BlockEntry);
}

static inline uint16_t *block_firsts(const Block *block)
{
        return (uint16_t *)(block + 1);
}

static inline uint16_t *block_widths(const Block *block)
{
        return block_firsts(block) + block->n_allocated;
}

static inline uint32_t *block_numbers(const Block *block)
{
        return (uint32_t *)(void *)(block_widths(block) + block->n_allocated);
}

static inline uint64_t *block_sinces(const Block *block)
{
        return (uint64_t *)(void *)(block_numbers(block) + block->n_allocated);
}

Block *block_new(uint32_t n_allocated);
void block_free(Block *block);
/* A block with the same entries and more room; frees BLOCK. */
Block *block_grow(Block *block, uint32_t n_allocated);

/* BLOCK must have room. */
void block_insert(Block *block, const BlockEntry *entry);
BlockEntry block_entry(const Block *block, uint32_t i);
bool block_remove(Block *block, uint32_t number);

/* Entries with since <= TIME. */
uint32_t block_upper_bound(const Block *block, uint64_t time);

/* The last of the entries before END that covers UNIT, or BLOCK_NONE. */
static inline uint32_t block_find(const Block *block, uint32_t end, uint16_t unit)
{
        const uint16_t *firsts = block_firsts(block), *widths = block_widths(block);

        while (end-- > 0)
                if ((uint16_t)(unit - firsts[end]) <= widths[end])
                        return end;
        return BLOCK_NONE;
}

/* Entries compared at once. */
enum { BLOCK_STEP = 8 };
typedef uint16_t BlockUnits __attribute__((vector_size(BLOCK_STEP * sizeof(uint16_t))));

/* True if one of the entries has a unit from FIRST to LAST. */
static inline bool block_has_overlap(const Block *block, uint16_t first, uint16_t last)
{
        const uint16_t *firsts = block_firsts(block), *widths = block_widths(block);
        uint32_t i;

        for (i = 0; block->n_entries - i >= BLOCK_STEP; i += BLOCK_STEP) {
                BlockUnits begin, width, is_in;
                uint64_t any[sizeof(BlockUnits) / sizeof(uint64_t)];

                memcpy(&begin, firsts + i, sizeof(begin));
                memcpy(&width, widths + i, sizeof(width));
                is_in = (BlockUnits)((begin <= last) & (begin + width >= first));
                memcpy(any, &is_in, sizeof(any));
                if (any[0] | any[1])
                        return true;
        }
        for (; i < block->n_entries; i++)
                if (firsts[i] <= last && firsts[i] + widths[i] >= first)
                        return true;
        return false;
}

/* True if entry I has a unit from FIRST to LAST. */
static inline bool block_overlaps(const Block *block, uint32_t i, uint16_t first, uint16_t last)
{
        uint32_t begin = block_firsts(block)[i];

        return begin <= last && begin + block_widths(block)[i] >= first;
}
