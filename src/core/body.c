/* SPDX-License-Identifier: MIT */
#include "core/body.h"

#include <string.h>

/* A GArray doubles: at most so much is allocated for each time in it. */
#define CONFIRMATION_SIZE (2 * sizeof(uint64_t))

#define CHUNK_SIZE (sizeof(Body) << BODY_CHUNK_BITS)

BodyExtra *body_get_extra(BodyStore *store, Body *body)
{
        if (!body->extra) {
                body->extra = g_new0(BodyExtra, 1);
                account_add(store->account, sizeof(BodyExtra));
        }
        return body->extra;
}

void body_confirm(BodyStore *store, Body *body, uint64_t time)
{
        BodyExtra *extra = body_get_extra(store, body);
        guint i;

        if (!extra->confirmations) {
                extra->confirmations = g_array_new(FALSE, FALSE, sizeof(uint64_t));
                account_add(store->account, sizeof(GArray) + 3 * sizeof(void *));
        }
        for (i = extra->confirmations->len; i > 0; i--)
                if (g_array_index(extra->confirmations, uint64_t, i - 1) <= time)
                        break;
        g_array_insert_val(extra->confirmations, i, time);
        store->account->n_bytes += CONFIRMATION_SIZE;
}

void body_set_il_map(BodyStore *store, Body *body, IlMap *map)
{
        BodyExtra *extra = map || body->extra ? body_get_extra(store, body) : NULL;
        size_t size;

        if (extra && extra->il_map) {
                size = account_size(ilmap_size(extra->il_map));
                store->account->n_bytes -= size;
                store->account->n_il_map_bytes -= size;
                store->account->n_il_maps--;
                ilmap_free(extra->il_map);
        }
        if (extra)
                extra->il_map = map;
        if (map) {
                size = account_size(ilmap_size(map));
                store->account->n_bytes += size;
                store->account->n_il_map_bytes += size;
                store->account->n_il_maps++;
        }
}

static void body_drop_extra(BodyStore *store, Body *body)
{
        if (!body->extra)
                return;
        body_set_il_map(store, body, NULL);
        if (body->extra->confirmations) {
                store->account->n_bytes -= body->extra->confirmations->len * CONFIRMATION_SIZE;
                account_remove(store->account, sizeof(GArray) + 3 * sizeof(void *));
                g_array_unref(body->extra->confirmations);
        }
        account_remove(store->account, sizeof(BodyExtra));
        g_clear_pointer(&body->extra, g_free);
}

static void chunks_grow(BodyStore *store)
{
        uint32_t n = store->n_allocated + MAX(4, store->n_allocated / 2);

        store->chunks = g_renew(Body *, store->chunks, n);
        account_change(store->account, store->n_allocated * sizeof(Body *), n * sizeof(Body *));
        store->n_allocated = n;
}

static void body_deinit(BodyStore *store, Body *body, Strtab *names)
{
        strtab_unref(names, body->name_space);
        strtab_unref(names, body->name);
        strtab_unref(names, body->signature);
        body_drop_extra(store, body);
        memset(body, 0, sizeof(*body));
        body->end = BODY_END_FREE;
}

void body_store_deinit(BodyStore *store, Strtab *names)
{
        uint32_t i;

        for (i = 0; i < store->n_used; i++)
                if (!body_is_free(body_store_get(store, i)))
                        body_deinit(store, body_store_get(store, i), names);
        for (i = 0; i < store->n_chunks; i++) {
                account_remove(store->account, CHUNK_SIZE);
                g_free(store->chunks[i]);
        }
        account_remove(store->account, store->n_allocated * sizeof(Body *));
        g_free(store->chunks);
        *store = BODY_STORE_INIT(store->account);
}

Body *body_store_add(BodyStore *store)
{
        uint32_t number = store->first_free;
        Body *body;

        if (number != BODY_NONE) {
                body = body_store_get(store, number);
                store->first_free = body->next;
                memset(body, 0, sizeof(*body));
        } else {
                number = store->n_used;
                if (number >> BODY_CHUNK_BITS == store->n_chunks) {
                        if (store->n_chunks == store->n_allocated)
                                chunks_grow(store);
                        store->chunks[store->n_chunks++] = g_malloc0(CHUNK_SIZE);
                        account_add(store->account, CHUNK_SIZE);
                }
                store->n_used++;
                body = body_store_get(store, number);
        }
        store->n_bodies++;
        body->number = number;
        return body;
}

void body_store_remove(BodyStore *store, Body *body, Strtab *names)
{
        uint32_t number = body->number;

        body_deinit(store, body, names);
        body->next = store->first_free;
        store->first_free = number;
        store->n_bodies--;
}

size_t body_store_growth(const BodyStore *store)
{
        if (store->first_free != BODY_NONE || store->n_used >> BODY_CHUNK_BITS < store->n_chunks)
                return 0;
        return account_size(CHUNK_SIZE) +
               account_size((store->n_allocated + 4) * 2 * sizeof(Body *));
}
