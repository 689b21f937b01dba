/* SPDX-License-Identifier: MIT */
#include "index.h"

#include <stdlib.h>
#include <string.h>

#define MIN_SLOTS 1024

static void put(IndexSlot *slots, size_t n_slots, uint64_t hash, uint32_t number)
{
        size_t i = hash & (n_slots - 1);

        while (slots[i].number != INDEX_NONE)
                i = (i + 1) & (n_slots - 1);
        slots[i] = (IndexSlot){hash, number};
}

static IndexSlot *new_slots(size_t n)
{
        IndexSlot *slots = malloc(n * sizeof(*slots));
        size_t i;

        for (i = 0; slots && i < n; i++)
                slots[i].number = INDEX_NONE;
        return slots;
}

uint32_t index_find(const Index *index, uint64_t hash, IndexEqual equal, const void *rows,
                    const void *key)
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

bool index_add(Index *index, uint64_t hash, uint32_t number)
{
        if (index->n * 2 >= index->n_slots) {
                size_t i, n_slots = index->n_slots ? index->n_slots * 2 : MIN_SLOTS;
                IndexSlot *slots = new_slots(n_slots);

                if (!slots)
                        return false;
                for (i = 0; i < index->n_slots; i++)
                        if (index->slots[i].number != INDEX_NONE)
                                put(slots, n_slots, index->slots[i].hash, index->slots[i].number);
                free(index->slots);
                index->slots = slots;
                index->n_slots = n_slots;
        }
        put(index->slots, index->n_slots, hash, number);
        index->n++;
        return true;
}

void index_clear(Index *index)
{
        size_t i;

        for (i = 0; i < index->n_slots; i++)
                index->slots[i].number = INDEX_NONE;
        index->n = 0;
}

void index_deinit(Index *index)
{
        free(index->slots);
        *index = (Index){0};
}

/* The multiplication spreads low bits up, the shift brings them down again. */
uint64_t hash_number(uint64_t hash, uint64_t number)
{
        hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15);
        return hash ^ hash >> 32;
}

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t n)
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
        return hash_bytes(hash, text, strlen(text));
}
