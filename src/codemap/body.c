/* SPDX-License-Identifier: MIT */
#include "codemap/body.h"

#include "util/hash.h"

#include <string.h>

/* A GArray doubles its size: at most this many bytes are allocated for each time in it. */
#define CONFIRMATION_SIZE (2 * sizeof(uint64_t))

/* A chunk's pointer, and its entry among the freed indexes. */
#define INDEX_SIZE (sizeof(BodyChunk *) + 2 * sizeof(uint32_t))
#define CHUNK_SIZE sizeof(BodyChunk)
/* Alignment of chunks: a body lies on at most two cache lines. */
#define CACHE_LINE 64

BodyExtra *body_get_extra(BodyStore *store, Body *body)
{
        if (!body->extra) {
                body->extra = g_new0(BodyExtra, 1);
                account_add(store->account, sizeof(BodyExtra));
        }
        return body->extra;
}

/* Removes every second confirmation, but not the last one. */
static void confirmations_thin(BodyStore *store, GArray *confirmations)
{
        guint n = 0, i;

        for (i = 0; i < confirmations->len; i++)
                if (i % 2 == 0 || i + 1 == confirmations->len)
                        g_array_index(confirmations, uint64_t, n++) =
                                g_array_index(confirmations, uint64_t, i);
        account_remove_exact(store->account, (confirmations->len - n) * CONFIRMATION_SIZE);
        g_array_set_size(confirmations, n);
}

void body_confirm(BodyStore *store, Body *body, uint64_t time)
{
        BodyExtra *extra = body_get_extra(store, body);
        guint i;

        if (!extra->confirmations) {
                extra->confirmations = g_array_new(FALSE, FALSE, sizeof(uint64_t));
                account_add(store->account, sizeof(GArray) + 3 * sizeof(void *));
        }
        if (extra->confirmations->len >= BODY_MAX_CONFIRMATIONS)
                confirmations_thin(store, extra->confirmations);
        for (i = extra->confirmations->len; i > 0; i--)
                if (g_array_index(extra->confirmations, uint64_t, i - 1) <= time)
                        break;
        g_array_insert_val(extra->confirmations, i, time);
        account_add_exact(store->account, CONFIRMATION_SIZE);
}

void body_hand_over(BodyStore *store, Body *body, Body *rest, uint64_t time)
{
        GArray *confirmations = body->extra ? body->extra->confirmations : NULL;
        guint i, n = confirmations ? confirmations->len : 0;

        for (i = n; i > 0 && g_array_index(confirmations, uint64_t, i - 1) > time; i--)
                body_confirm(store, rest, g_array_index(confirmations, uint64_t, i - 1));
        if (i < n)
                g_array_set_size(confirmations, i);
        account_remove_exact(store->account, (n - i) * CONFIRMATION_SIZE);
        if (body_il_map(body)) {
                body_get_extra(store, rest)->il_map = body->extra->il_map;
                body->extra->il_map = NULL;
        }
}

void body_set_il_map(BodyStore *store, Body *body, IlMap *map)
{
        BodyExtra *extra = map || body->extra ? body_get_extra(store, body) : NULL;

        if (extra && extra->il_map) {
                account_remove_il_map(store->account, account_size(ilmap_size(extra->il_map)));
                ilmap_free(extra->il_map);
        }
        if (extra)
                extra->il_map = map;
        if (map)
                account_add_il_map(store->account, account_size(ilmap_size(map)));
}

static void body_drop_extra(BodyStore *store, Body *body)
{
        if (!body->extra)
                return;
        body_set_il_map(store, body, NULL);
        if (body->extra->confirmations) {
                account_remove_exact(store->account,
                                     body->extra->confirmations->len * CONFIRMATION_SIZE);
                account_remove(store->account, sizeof(GArray) + 3 * sizeof(void *));
                g_array_unref(body->extra->confirmations);
        }
        account_remove(store->account, sizeof(BodyExtra));
        g_clear_pointer(&body->extra, g_free);
}

/* Bytes, with the entry in the table. */
#define DETAIL_SIZE (sizeof(BodyDetail) + 48)

static void body_drop_detail(BodyStore *store, Body *body, Strtab *names)
{
        const BodyDetail *detail = body_detail(store, body);

        if (!detail)
                return;
        strtab_unref(names, detail->stub.name_space);
        strtab_unref(names, detail->stub.name);
        strtab_unref(names, detail->stub.signature);
        strtab_unref(names, detail->type_args);
        if (detail->inlining)
                account_remove(store->account, inlining_size(detail->inlining));
        inlining_unref(detail->inlining, names);
        g_hash_table_remove(store->details, GUINT_TO_POINTER(body->number));
        account_remove(store->account, DETAIL_SIZE);
        body->has_detail = false;
}

void body_set_detail(BodyStore *store, Body *body, Strtab *names, const BodyDetail *detail)
{
        body_drop_detail(store, body, names);
        if (!store->details)
                store->details = g_hash_table_new_full(hash_number_key, NULL, NULL, g_free);
        g_hash_table_insert(store->details, GUINT_TO_POINTER(body->number),
                            g_memdup2(detail, sizeof(*detail)));
        account_add(store->account, DETAIL_SIZE);
        if (detail->inlining)
                account_add(store->account, inlining_size(detail->inlining));
        body->has_detail = true;
}

const BodyDetail *body_detail(const BodyStore *store, const Body *body)
{
        return body->has_detail
                       ? g_hash_table_lookup(store->details, GUINT_TO_POINTER(body->number))
                       : NULL;
}

static void body_store_grow(BodyStore *store)
{
        uint32_t n = store->n_allocated + MAX(4, store->n_allocated / 2);

        store->chunks = g_renew(BodyChunk *, store->chunks, n);
        account_change(store->account, store->n_allocated * INDEX_SIZE, n * INDEX_SIZE);
        store->n_allocated = n;
}

static void body_deinit(BodyStore *store, Body *body, Strtab *names)
{
        strtab_unref(names, body->name_space);
        strtab_unref(names, body->name);
        strtab_unref(names, body->signature);
        body_drop_detail(store, body, names);
        body_drop_extra(store, body);
        memset(body, 0, sizeof(*body));
        body->end = BODY_END_FREE;
}

void body_store_init(BodyStore *store, Account *account)
{
        *store = (BodyStore){.account = account, .first_open = BODY_NONE};
        store->freed = g_array_new(FALSE, FALSE, sizeof(uint32_t));
}

static void body_store_free_chunk(BodyStore *store, uint32_t i)
{
        account_remove(store->account, CHUNK_SIZE);
        g_clear_pointer(&store->chunks[i], g_aligned_free);
}

/* Frees what the bodies of chunk I own, and the chunk. */
static void body_store_deinit_chunk(BodyStore *store, uint32_t i, Strtab *names)
{
        uint32_t number;

        for (number = i << BODY_CHUNK_BITS; number < (i + 1) << BODY_CHUNK_BITS; number++)
                if (body_store_find(store, number))
                        body_deinit(store, body_store_get(store, number), names);
        body_store_free_chunk(store, i);
}

void body_store_deinit(BodyStore *store, Strtab *names)
{
        uint32_t i;

        for (i = 0; i < store->n_chunks; i++)
                if (store->chunks[i])
                        body_store_deinit_chunk(store, i, names);
        account_remove(store->account, store->n_allocated * INDEX_SIZE);
        g_free(store->chunks);
        g_array_unref(store->freed);
        g_clear_pointer(&store->details, g_hash_table_unref);
        *store = (BodyStore){0};
}

static void body_store_add_open(BodyStore *store, uint32_t i)
{
        BodyChunk *chunk = store->chunks[i];

        chunk->next_open = store->first_open;
        chunk->previous_open = BODY_NONE;
        if (chunk->next_open != BODY_NONE)
                store->chunks[chunk->next_open]->previous_open = i;
        store->first_open = i;
}

static void body_store_remove_open(BodyStore *store, uint32_t i)
{
        const BodyChunk *chunk = store->chunks[i];

        if (chunk->next_open != BODY_NONE)
                store->chunks[chunk->next_open]->previous_open = chunk->previous_open;
        if (chunk->previous_open != BODY_NONE)
                store->chunks[chunk->previous_open]->next_open = chunk->next_open;
        else
                store->first_open = chunk->next_open;
}

static void body_store_add_chunk(BodyStore *store)
{
        uint32_t i;

        if (store->freed->len) {
                i = g_array_index(store->freed, uint32_t, store->freed->len - 1);
                g_array_set_size(store->freed, store->freed->len - 1);
        } else {
                if (store->n_chunks == store->n_allocated)
                        body_store_grow(store);
                i = store->n_chunks++;
        }
        store->chunks[i] = g_aligned_alloc(1, CHUNK_SIZE, CACHE_LINE);
        store->chunks[i]->n_bodies = 0;
        store->chunks[i]->n_touched = 0;
        store->chunks[i]->first_free = BODY_NONE;
        account_add(store->account, CHUNK_SIZE);
        body_store_add_open(store, i);
}

Body *body_store_add(BodyStore *store)
{
        BodyChunk *chunk;
        uint32_t i;

        if (store->first_open == BODY_NONE)
                body_store_add_chunk(store);
        chunk = store->chunks[store->first_open];
        i = chunk->first_free;
        if (i != BODY_NONE)
                chunk->first_free = chunk->bodies[i].next;
        else
                i = chunk->n_touched++;
        memset(&chunk->bodies[i], 0, sizeof(Body));
        chunk->bodies[i].number = (store->first_open << BODY_CHUNK_BITS) + i;
        if (++chunk->n_bodies == BODY_CHUNK)
                body_store_remove_open(store, store->first_open);
        store->n_bodies++;
        return &chunk->bodies[i];
}

void body_store_remove(BodyStore *store, Body *body, Strtab *names)
{
        uint32_t i = body->number >> BODY_CHUNK_BITS;
        BodyChunk *chunk = store->chunks[i];

        body_deinit(store, body, names);
        body->next = chunk->first_free;
        chunk->first_free = (uint32_t)(body - chunk->bodies);
        store->n_bodies--;
        if (chunk->n_bodies-- == BODY_CHUNK)
                body_store_add_open(store, i);
        if (!chunk->n_bodies) {
                body_store_remove_open(store, i);
                body_store_free_chunk(store, i);
                g_array_append_val(store->freed, i);
        }
}

size_t body_store_growth(const BodyStore *store)
{
        if (store->first_open != BODY_NONE)
                return 0;
        return account_size(CHUNK_SIZE) + account_size(MAX(4, store->n_allocated / 2) * INDEX_SIZE);
}

/* True if both names are known and differ. */
static bool names_differ(const Strtab *names, Str a, Str b)
{
        return a && b && a != b && *strtab_text(names, a) && *strtab_text(names, b);
}

static bool bodies_have_same_names(const Strtab *names, const Body *a, const Body *b)
{
        return !names_differ(names, a->name, b->name) &&
               !names_differ(names, a->name_space, b->name_space) &&
               !names_differ(names, a->signature, b->signature);
}

bool body_is_same(const Strtab *names, const Body *a, const Body *b)
{
        return a->start == b->start && a->method_id == b->method_id && a->rejit_id == b->rejit_id &&
               (!a->size || !b->size ||
                (a->size == b->size && bodies_have_same_names(names, a, b)));
}

/* Flags of a free entry that a restored body will take. */
#define AWAITED 1

static bool body_store_restore_chunks(BodyStore *store, uint32_t n)
{
        /* No memory holds so many chunks. */
        if (n > UINT32_MAX >> BODY_CHUNK_BITS)
                return false;
        while (store->n_allocated < n)
                body_store_grow(store);
        while (store->n_chunks < n)
                store->chunks[store->n_chunks++] = NULL;
        return true;
}

bool body_store_restore_chunk(BodyStore *store, uint32_t i, uint32_t n_touched,
                              const uint16_t *free, uint32_t n_free)
{
        BodyChunk *chunk;
        uint32_t k;

        if (n_touched > BODY_CHUNK || n_free >= n_touched || i > store->n_chunks + (1u << 20) ||
            !body_store_restore_chunks(store, MAX(i + 1, store->n_chunks)) || store->chunks[i])
                return false;
        chunk = store->chunks[i] = g_aligned_alloc(1, CHUNK_SIZE, CACHE_LINE);
        account_add(store->account, CHUNK_SIZE);
        chunk->n_bodies = 0;
        chunk->n_touched = n_touched;
        chunk->first_free = n_free ? free[0] : BODY_NONE;
        for (k = 0; k < n_touched; k++)
                chunk->bodies[k] = (Body){.end = BODY_END_FREE, .flags = AWAITED};
        for (k = 0; k < n_free; k++) {
                if (free[k] >= n_touched || !chunk->bodies[free[k]].flags) {
                        chunk->n_touched = 0; /* nothing in it may be looked at */
                        return false;
                }
                chunk->bodies[free[k]].flags = 0;
                chunk->bodies[free[k]].next = k + 1 < n_free ? free[k + 1] : BODY_NONE;
        }
        return true;
}

Body *body_store_restore(BodyStore *store, uint32_t number)
{
        uint32_t i = number >> BODY_CHUNK_BITS, k = number & (BODY_CHUNK - 1);
        BodyChunk *chunk = i < store->n_chunks ? store->chunks[i] : NULL;
        Body *body;

        if (!chunk || k >= chunk->n_touched)
                return NULL;
        body = &chunk->bodies[k];
        if (body->end != BODY_END_FREE || body->flags != AWAITED)
                return NULL;
        *body = (Body){.number = number};
        chunk->n_bodies++;
        store->n_bodies++;
        return body;
}

bool body_store_restore_end(BodyStore *store, const uint32_t *open, uint32_t n_open,
                            const uint32_t *freed, uint32_t n_freed)
{
        uint32_t n_awaited_open = n_open, n_awaited_freed = n_freed, i;

        /* The last indexes may be free, too. */
        for (i = 0; i < n_freed; i++)
                if (freed[i] > store->n_chunks + n_freed ||
                    !body_store_restore_chunks(store, MAX(freed[i] + 1, store->n_chunks)))
                        return false;
        for (i = 0; i < store->n_chunks; i++) {
                BodyChunk *chunk = store->chunks[i];
                uint32_t n_free = 0, k;

                n_awaited_freed -= !chunk;
                n_awaited_open -= chunk && chunk->n_bodies < BODY_CHUNK;
                for (k = 0; chunk && k < chunk->n_touched; k++)
                        n_free += chunk->bodies[k].end == BODY_END_FREE;
                for (k = chunk ? chunk->first_free : BODY_NONE; k != BODY_NONE;
                     k = chunk->bodies[k].next)
                        n_free--;
                /* An expected body is missing. */
                if (n_free)
                        return false;
                if (chunk)
                        chunk->next_open = chunk->previous_open = i;
        }
        if (n_awaited_open || n_awaited_freed)
                return false;
        for (i = n_open; i-- > 0;) {
                BodyChunk *chunk = open[i] < store->n_chunks ? store->chunks[open[i]] : NULL;

                /* The chunk is listed twice, or it is full. */
                if (!chunk || chunk->n_bodies == BODY_CHUNK || chunk->next_open != open[i])
                        return false;
                body_store_add_open(store, open[i]);
        }
        for (i = 0; i < n_freed; i++)
                if (freed[i] >= store->n_chunks || store->chunks[freed[i]])
                        return false;
        g_array_append_vals(store->freed, freed, n_freed);
        return true;
}
