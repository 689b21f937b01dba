/* SPDX-License-Identifier: MIT */
#include "perf/hash-index.h"

#include <stdlib.h>
#include <string.h>

#define MIN_SLOTS 1024

static void hash_index_put(HashIndexSlot *slots, size_t n_slots, uint64_t hash, uint32_t number)
{
        size_t i = hash & (n_slots - 1);

        while (slots[i].number != INDEX_NONE)
                i = (i + 1) & (n_slots - 1);
        slots[i] = (HashIndexSlot){hash, number};
}

static HashIndexSlot *hash_index_new_slots(size_t n)
{
        HashIndexSlot *slots = malloc(n * sizeof(*slots));
        size_t i;

        for (i = 0; slots && i < n; i++)
                slots[i].number = INDEX_NONE;
        return slots;
}

uint32_t hash_index_find(const HashIndex *index, uint64_t hash, HashIndexEqual equal,
                         const void *rows, const void *key)
{
        size_t i;

        if (!index->n_slots)
                return INDEX_NONE;
        for (i = hash & (index->n_slots - 1); index->slots[i].number != INDEX_NONE;
             i = (i + 1) & (index->n_slots - 1))
                if (index->slots[i].hash == hash && equal(rows, index->slots[i].number, key))
                        return index->slots[i].number;
        return INDEX_NONE;
}

bool hash_index_add(HashIndex *index, uint64_t hash, uint32_t number)
{
        if (index->n * 2 >= index->n_slots) {
                size_t i, n_slots = index->n_slots ? index->n_slots * 2 : MIN_SLOTS;
                HashIndexSlot *slots = hash_index_new_slots(n_slots);

                if (!slots)
                        return false;
                for (i = 0; i < index->n_slots; i++)
                        if (index->slots[i].number != INDEX_NONE)
                                hash_index_put(slots, n_slots, index->slots[i].hash,
                                               index->slots[i].number);
                free(index->slots);
                index->slots = slots;
                index->n_slots = n_slots;
        }
        hash_index_put(index->slots, index->n_slots, hash, number);
        index->n++;
        return true;
}

void hash_index_clear(HashIndex *index)
{
        size_t i;

        for (i = 0; i < index->n_slots; i++)
                index->slots[i].number = INDEX_NONE;
        index->n = 0;
}

void hash_index_deinit(HashIndex *index)
{
        free(index->slots);
        *index = (HashIndex){0};
}

/* The multiplication mixes low bits into high ones; the shift mixes high bits into low ones. */
uint64_t hash_number(uint64_t hash, uint64_t number)
{
        hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
        return hash ^ hash >> 32;
}

uint64_t hash_index_bytes(uint64_t hash, const void *bytes, size_t n)
{
        const char *at = bytes;
        uint64_t word;

        for (; n >= sizeof(word); at += sizeof(word), n -= sizeof(word)) {
                memcpy(&word, at, sizeof(word));
                hash = hash_number(hash, word);
        }
        word = 0;
        if (n)
                memcpy(&word, at, n);
        return hash_number(hash, word ^ (uint64_t)n << 56);
}

uint64_t hash_text(uint64_t hash, const char *text)
{
        return hash_index_bytes(hash, text, strlen(text));
}
