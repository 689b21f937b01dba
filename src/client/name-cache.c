/* SPDX-License-Identifier: MIT */
#include "client/name-cache.h"

#include "util/utf8.h"
#include "wire/bulk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE  (64u << 10)
#define FIRST_SLOTS 1024

struct NameChunk {
        NameChunk *next;
        size_t used, size;
        char bytes[];
};

/* The slot of ID, or the free slot for it. */
static NameSlot *slot_of(const NameCache *names, uint32_t id)
{
        /* Fibonacci hashing, because most ids are neighbours. */
        size_t mask = names->n_slots - 1, i = (id * UINT64_C(0x9e3779b97f4a7c15) >> 32) & mask;

        while (names->slots[i].id && names->slots[i].id != id)
                i = (i + 1) & mask;
        return &names->slots[i];
}

const char *name_cache_find(const NameCache *names, uint32_t id)
{
        return names->n_slots ? slot_of(names, id)->text : NULL;
}

/* At most half of the slots are used. */
static int name_cache_make_room(NameCache *names)
{
        NameCache grown = {.n_slots = names->n_slots ? 2 * names->n_slots : FIRST_SLOTS};
        size_t i;

        if (2 * (names->n_names + 1) <= names->n_slots)
                return 0;
        grown.slots = calloc(grown.n_slots, sizeof(*grown.slots));
        if (!grown.slots)
                return -ENOMEM;
        for (i = 0; i < names->n_slots; i++)
                if (names->slots[i].id)
                        *slot_of(&grown, names->slots[i].id) = names->slots[i];
        free(names->slots);
        names->slots = grown.slots;
        names->n_slots = grown.n_slots;
        return 0;
}

/* A copy of N bytes with a NUL; NULL without memory. */
static const char *name_cache_store(NameCache *names, const char *text, size_t n)
{
        NameChunk *chunk = names->chunks;
        char *copy;

        if (!chunk || chunk->size - chunk->used <= n) {
                size_t size = n + 1 > CHUNK_SIZE ? n + 1 : CHUNK_SIZE;

                chunk = malloc(sizeof(*chunk) + size);
                if (!chunk)
                        return NULL;
                chunk->used = 0;
                chunk->size = size;
                chunk->next = names->chunks;
                names->chunks = chunk;
        }
        copy = chunk->bytes + chunk->used;
        memcpy(copy, text, n);
        copy[n] = '\0';
        chunk->used += n + 1;
        names->n_stored += n + 1;
        return copy;
}

int name_cache_set(NameCache *names, uint32_t id, const char *text, size_t n)
{
        NameSlot *slot;
        const char *copy;
        size_t n_old;
        int r = name_cache_make_room(names);

        if (r < 0)
                return r;
        slot = slot_of(names, id);
        n_old = slot->text ? strlen(slot->text) : 0;
        if (names->n_bytes - n_old + n > BULK_MAX_NAME_BYTES ||
            (!slot->text && names->n_names >= BULK_MAX_NAMES))
                return -ENOBUFS;
        copy = name_cache_store(names, text, n);
        if (!copy)
                return -ENOMEM;
        if (!utf8_is_text(copy, n))
                return -EBADMSG;
        names->n_bytes += n - n_old;
        names->n_names += !slot->text;
        *slot = (NameSlot){id, copy};
        return 0;
}

void name_cache_forget(NameCache *names)
{
        NameChunk **last = &names->retired;

        while (*last)
                last = &(*last)->next;
        *last = names->chunks;
        free(names->slots);
        *names = (NameCache){.retired = names->retired};
}

void name_cache_release(NameCache *names)
{
        while (names->retired) {
                NameChunk *chunk = names->retired;

                names->retired = chunk->next;
                free(chunk);
        }
}

void name_cache_deinit(NameCache *names)
{
        name_cache_forget(names);
        name_cache_release(names);
}
