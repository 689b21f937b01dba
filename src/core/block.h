/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * Block: the bodies of a page in a part of its time, in order of `since`
 *
 * Column by column, that what a search reads of many entries lies together: first where on the page
 * they are, which rules out all but a few of them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One allocation; the columns of n_allocated places each come behind it, in this order: first,
 * width, number, since. */
typedef struct Block {
        uint32_t n_entries;
        uint32_t n_allocated;
} Block;

typedef struct Entry {
        uint64_t since;
        uint32_t number; /* of the body */
        uint16_t first;  /* in units from the page's start */
        uint16_t width;  /* units behind the first one */
} Entry;

#define BLOCK_NONE UINT32_MAX

static inline size_t block_size(uint32_t n_allocated)
{
        return sizeof(Block) + n_allocated * sizeof(Entry);
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
/* The same with more room; BLOCK is gone. */
Block *block_grow(Block *block, uint32_t n_allocated);

/* There must be room. */
void block_insert(Block *block, const Entry *entry);
Entry block_entry(const Block *block, uint32_t i);
bool block_remove(Block *block, uint32_t number);

/* Entries with since <= TIME. */
uint32_t block_upper_bound(const Block *block, uint64_t time);

/* Of the entries before END, the last one that covers UNIT; or BLOCK_NONE. */
static inline uint32_t block_find(const Block *block, uint32_t end, uint16_t unit)
{
        const uint16_t *firsts = block_firsts(block), *widths = block_widths(block);

        while (end-- > 0)
                if ((uint16_t)(unit - firsts[end]) <= widths[end])
                        return end;
        return BLOCK_NONE;
}

/* True if entry I lies in part between the units FIRST and LAST. */
static inline bool block_overlaps(const Block *block, uint32_t i, uint16_t first, uint16_t last)
{
        uint32_t begin = block_firsts(block)[i];

        return begin <= last && begin + block_widths(block)[i] >= first;
}
