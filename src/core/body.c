/* SPDX-License-Identifier: MIT */
#include "core/body.h"

#include <string.h>

static void body_deinit(Body *body, Strtab *names)
{
        strtab_unref(names, body->name_space);
        strtab_unref(names, body->name);
        strtab_unref(names, body->signature);
        ilmap_free(body->il_map);
        if (body->extra && body->extra->confirmations)
                g_array_unref(body->extra->confirmations);
        g_free(body->extra);
        memset(body, 0, sizeof(*body));
        body->end = BODY_END_FREE;
}

void body_store_deinit(BodyStore *store, Strtab *names)
{
        uint32_t i;

        for (i = 0; i < store->n_used; i++)
                if (!body_is_free(body_store_get(store, i)))
                        body_deinit(body_store_get(store, i), names);
        for (i = 0; i < store->n_chunks; i++)
                g_free(store->chunks[i]);
        g_free(store->chunks);
        *store = BODY_STORE_INIT;
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
                if (store->n_used == BODY_NONE)
                        return NULL;
                number = store->n_used;
                if (number >> BODY_CHUNK_BITS == store->n_chunks) {
                        if (!(store->n_chunks & (store->n_chunks - 1)))
                                store->chunks =
                                        g_renew(Body *, store->chunks, MAX(1, store->n_chunks * 2));
                        store->chunks[store->n_chunks++] = g_new0(Body, 1u << BODY_CHUNK_BITS);
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

        body_deinit(body, names);
        body->next = store->first_free;
        store->first_free = number;
        store->n_bodies--;
}

size_t body_store_bytes(const BodyStore *store)
{
        return (size_t)store->n_chunks * (sizeof(Body) << BODY_CHUNK_BITS) +
               store->n_chunks * 2 * sizeof(Body *);
}
