/* SPDX-License-Identifier: MIT */
#include "codemap/block.h"

#include <glib.h>
#include <string.h>

Block *block_new(uint32_t n_allocated)
{
        Block *block = g_malloc(block_size(n_allocated));

        *block = (Block){.n_allocated = n_allocated};
        return block;
}

void block_free(Block *block)
{
        g_free(block);
}

Block *block_grow(Block *block, uint32_t n_allocated)
{
        Block *grown = block_new(n_allocated);
        uint32_t n = block->n_entries;

        grown->n_entries = n;
        memcpy(block_firsts(grown), block_firsts(block), n * sizeof(uint16_t));
        memcpy(block_widths(grown), block_widths(block), n * sizeof(uint16_t));
        memcpy(block_numbers(grown), block_numbers(block), n * sizeof(uint32_t));
        memcpy(block_sinces(grown), block_sinces(block), n * sizeof(uint64_t));
        block_free(block);
        return grown;
}

/* Moves the entries from FROM on to TO, in all columns. */
static void block_move_entries(Block *block, uint32_t to, uint32_t from)
{
        size_t n = block->n_entries - from;

        memmove(block_firsts(block) + to, block_firsts(block) + from, n * sizeof(uint16_t));
        memmove(block_widths(block) + to, block_widths(block) + from, n * sizeof(uint16_t));
        memmove(block_numbers(block) + to, block_numbers(block) + from, n * sizeof(uint32_t));
        memmove(block_sinces(block) + to, block_sinces(block) + from, n * sizeof(uint64_t));
}

void block_insert(Block *block, const BlockEntry *entry)
{
        uint32_t i = block_upper_bound(block, entry->since);

        block_move_entries(block, i + 1, i);
        block_firsts(block)[i] = entry->first;
        block_widths(block)[i] = entry->width;
        block_numbers(block)[i] = entry->number;
        block_sinces(block)[i] = entry->since;
        block->n_entries++;
}

BlockEntry block_entry(const Block *block, uint32_t i)
{
        return (BlockEntry){block_sinces(block)[i], block_numbers(block)[i], block_firsts(block)[i],
                            block_widths(block)[i]};
}

bool block_remove(Block *block, uint32_t number)
{
        const uint32_t *numbers = block_numbers(block);
        uint32_t i;

        for (i = 0; i < block->n_entries; i++)
                if (numbers[i] == number) {
                        block_move_entries(block, i, i + 1);
                        block->n_entries--;
                        return true;
                }
        return false;
}

uint32_t block_upper_bound(const Block *block, uint64_t time)
{
        const uint64_t *sinces = block_sinces(block);
        uint32_t low = 0, high = block->n_entries;

        if (high && sinces[high - 1] <= time)
                return high;
        while (low < high) {
                uint32_t middle = low + (high - low) / 2;

                if (sinces[middle] <= time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}
