/* SPDX-License-Identifier: MIT */

/*
 * Code maps in images: chunks, then bodies, then how they hang together
 *
 * Every body has its number again, and every place that is free will be used in the same order: so
 * what comes after the image has the same effect as it had. Bodies come in order of their
 * beginning: the page index fills best that way.
 */

#include "core/image-parts.h"

#include "core/codemap-struct.h"

#include <stdlib.h>
#include <string.h>

static void image_names(ImageIo *io, Body *body)
{
        image_str(io, &body->name_space);
        image_str(io, &body->name);
        image_str(io, &body->signature);
}

void image_tell_stub_target(ImageIo *io, const StubTarget *target)
{
        image_tell_name(io, target->name_space);
        image_tell_name(io, target->name);
        image_tell_name(io, target->signature);
}

void image_stub_target(ImageIo *io, StubTarget *target)
{
        image_str(io, &target->name_space);
        image_str(io, &target->name);
        image_str(io, &target->signature);
        if (!target->name)
                image_refuse(io);
}

void image_il_map(ImageIo *io, IlMap **map)
{
        uint32_t n = io->is_writing && *map ? (uint32_t)ilmap_size(*map) : 0;

        image_count(io, &n, 1);
        if (io->is_writing) {
                if (*map)
                        image_raw(io, (void *)ilmap_bytes(*map), n);
                return;
        }
        *map = n ? ilmap_from_bytes(io->at, n) : NULL;
        if (n && !*map)
                image_refuse(io);
        io->at += n;
}

static void image_confirmations(ImageIo *io, CodeMap *map, Body *body)
{
        GArray *confirmations = io->is_writing ? body->extra->confirmations : NULL;
        uint32_t n = confirmations ? confirmations->len : 0, i;
        uint64_t time;

        image_count(io, &n, sizeof(time));
        if (io->is_writing && n)
                image_raw(io, confirmations->data, n * sizeof(time));
        for (i = 0; !io->is_writing && i < n; i++) {
                image_field(io, time);
                body_confirm(&map->store, body, time);
        }
}

static void image_extra(ImageIo *io, CodeMap *map, Body *body)
{
        IlMap *il_map = io->is_writing ? body->extra->il_map : NULL;

        image_field(io, body_get_extra(&map->store, body)->seen);
        image_confirmations(io, map, body);
        image_il_map(io, &il_map);
        if (!io->is_writing)
                body_set_il_map(&map->store, body, il_map);
}

/* What a body has in any case. */
static void image_body(ImageIo *io, Body *body, bool *has_extra, bool *is_method)
{
        image_field(io, body->start);
        image_field(io, body->since);
        image_field(io, body->until);
        image_field(io, body->method_id);
        image_field(io, body->size);
        image_field(io, body->flags);
        image_field(io, body->token);
        image_field(io, body->rejit_id);
        image_field(io, body->jit_time);
        image_field(io, body->module);
        image_field(io, body->next);
        image_field(io, body->previous);
        image_field(io, body->source);
        image_field(io, body->end);
        image_bool(io, has_extra);
        image_bool(io, is_method);
        image_bool(io, &body->is_stub);
        image_names(io, body);
}

static void put_stub_target(ImageIo *io, const CodeMap *map, const Body *body)
{
        StubTarget target = *body_stub_target(&map->store, body);

        image_stub_target(io, &target);
}

static void put_body(ImageIo *io, CodeMap *map, uint32_t number)
{
        Body *body = body_store_get(&map->store, number);
        bool has_extra = body->extra != NULL;
        bool is_method = body->until == BODY_FOREVER &&
                         codemap_method(map, body->method_id, body->rejit_id) == body;

        image_tell_name(io, body->name_space);
        image_tell_name(io, body->name);
        image_tell_name(io, body->signature);
        if (body->is_stub)
                image_tell_stub_target(io, body_stub_target(&map->store, body));
        image_begin(io, IMAGE_BODY);
        image_field(io, number);
        image_body(io, body, &has_extra, &is_method);
        if (has_extra)
                image_extra(io, map, body);
        if (body->is_stub)
                put_stub_target(io, map, body);
}

static bool is_body_sound(const Body *body, uint32_t n_modules)
{
        return body->source < _BODY_SOURCE_MAX && body->end < BODY_END_FREE &&
               body_extent(body) - 1 <= UINT64_MAX - body->start && body->module <= n_modules;
}

static void get_stub_target(ImageIo *io, CodeMap *map, Body *body)
{
        StubTarget target = {0};

        image_stub_target(io, &target);
        codemap_set_stub_target(map, body, &target);
}

static void get_body(ImageIo *io, CodeMap *map, uint32_t n_modules)
{
        bool has_extra, is_method, is_stub;
        uint32_t number;
        Body *body, read = {0};

        image_field(io, number);
        image_body(io, &read, &has_extra, &is_method);
        body = io->is_bad || !is_body_sound(&read, n_modules)
                       ? NULL
                       : body_store_restore(&map->store, number);
        if (!body) {
                strtab_unref(io->names, read.name_space);
                strtab_unref(io->names, read.name);
                strtab_unref(io->names, read.signature);
                image_refuse(io);
                return;
        }
        is_stub = read.is_stub;
        *body = read;
        body->number = number;
        body->is_stub = false;
        if (has_extra)
                image_extra(io, map, body);
        if (is_stub)
                get_stub_target(io, map, body);
        pageindex_add(map->index, number);
        map->n_live += body->until == BODY_FOREVER;
        if (is_method)
                methodtable_add(&map->methods, body);
}

static void put_chunk(ImageIo *io, const BodyChunk *chunk, uint32_t i)
{
        uint16_t free[BODY_CHUNK];
        uint32_t n_touched = chunk->n_touched, n_free = 0, k;

        for (k = chunk->first_free; k != BODY_NONE; k = chunk->bodies[k].next)
                free[n_free++] = (uint16_t)k;
        image_begin(io, IMAGE_CHUNK);
        image_field(io, i);
        image_field(io, n_touched);
        image_field(io, n_free);
        image_raw(io, free, n_free * sizeof(*free));
}

static void get_chunk(ImageIo *io, CodeMap *map)
{
        uint16_t free[BODY_CHUNK];
        uint32_t i, n_touched, n_free;

        image_field(io, i);
        image_field(io, n_touched);
        image_count(io, &n_free, sizeof(*free));
        if (io->is_bad || n_free > BODY_CHUNK) {
                image_refuse(io);
                return;
        }
        image_raw(io, free, n_free * sizeof(*free));
        if (!body_store_restore_chunk(&map->store, i, n_touched, free, n_free))
                image_refuse(io);
}

/* A list of u32. When reading, COUNT elements that are the caller's to free. */
static void image_list(ImageIo *io, uint32_t **list, uint32_t *count)
{
        image_count(io, count, sizeof(**list));
        if (!io->is_writing)
                *list = g_new0(uint32_t, MAX(*count, 1));
        image_raw(io, *list, *count * sizeof(**list));
}

static void image_links(ImageIo *io, CodeMap *map)
{
        image_field(io, map->newest);
        image_field(io, map->whole_since);
        image_field(io, map->first_dead);
        image_field(io, map->last_dead);
        image_field(io, map->il_map_cursor);
}

static void put_links(ImageIo *io, CodeMap *map)
{
        const BodyStore *store = &map->store;
        uint32_t *open = malloc((store->n_chunks + 1) * sizeof(*open)), n_open = 0, i;
        uint32_t *freed = (uint32_t *)(void *)store->freed->data;
        uint32_t *modules = (uint32_t *)(void *)map->modules->data;

        for (i = store->first_open; open && i != BODY_NONE; i = store->chunks[i]->next_open)
                open[n_open++] = i;
        if (!open)
                image_refuse(io);
        image_begin(io, IMAGE_CODE_MAP);
        image_links(io, map);
        image_list(io, &modules, &map->modules->len);
        image_list(io, &open, &n_open);
        image_list(io, &freed, &store->freed->len);
        free(open);
}

static Body *find(const CodeMap *map, uint32_t number)
{
        return number < body_store_end(&map->store) ? body_store_find(&map->store, number) : NULL;
}

/* True if the two may follow each other in a list. */
static bool are_alike(const Body *a, const Body *b)
{
        bool is_dead = a->until != BODY_FOREVER;

        return is_dead == (b->until != BODY_FOREVER) && (is_dead || a->module == b->module);
}

/* Whoever follows somebody is followed by him: so a list that has a beginning has an end. */
static bool is_linked(const CodeMap *map, const Body *body)
{
        const Body *next = find(map, body->next), *previous = find(map, body->previous);

        if ((body->next != BODY_NONE && (!next || next->previous != body->number)) ||
            (body->previous != BODY_NONE && (!previous || previous->next != body->number)))
                return false;
        if (next && !are_alike(body, next))
                return false;
        if (body->until != BODY_FOREVER)
                return (next || map->last_dead == body->number) &&
                       (previous || map->first_dead == body->number);
        if (!body->module)
                return !next && !previous;
        return previous ||
               (body->module <= map->modules->len &&
                g_array_index(map->modules, uint32_t, body->module - 1) == body->number);
}

static bool are_heads_sound(const CodeMap *map)
{
        const Body *first = find(map, map->first_dead), *last = find(map, map->last_dead), *body;
        uint32_t number;
        guint i;

        if ((map->first_dead != BODY_NONE && (!first || first->until == BODY_FOREVER)) ||
            (map->last_dead != BODY_NONE && (!last || last->until == BODY_FOREVER)) ||
            !first != !last || map->il_map_cursor > body_store_end(&map->store))
                return false;
        for (i = 0; i < map->modules->len; i++) {
                number = g_array_index(map->modules, uint32_t, i);
                body = find(map, number);
                if (number != BODY_NONE &&
                    (!body || body->until != BODY_FOREVER || body->module != i + 1))
                        return false;
        }
        return true;
}

static void get_links(ImageIo *io, CodeMap *map, uint32_t n_modules)
{
        g_autofree uint32_t *modules = NULL, *open = NULL, *freed = NULL;
        uint32_t n, n_open, n_freed, i;

        image_links(io, map);
        image_list(io, &modules, &n);
        image_list(io, &open, &n_open);
        image_list(io, &freed, &n_freed);
        if (io->is_bad || n > n_modules || map->modules->len) {
                image_refuse(io);
                return;
        }
        g_array_append_vals(map->modules, modules, n);
        account_add(map->store.account, n * sizeof(uint32_t));
        if (!body_store_restore_end(&map->store, open, n_open, freed, n_freed) ||
            !are_heads_sound(map))
                image_refuse(io);
        for (i = 0; !io->is_bad && i < body_store_end(&map->store); i++) {
                const Body *body = body_store_find(&map->store, i);

                if (body && !is_linked(map, body))
                        image_refuse(io);
        }
}

typedef struct Order {
        uint64_t since, until;
        uint32_t number;
} Order;

static int compare_order(const void *a, const void *b)
{
        const Order *x = a, *y = b;

        if (x->since != y->since)
                return x->since < y->since ? -1 : 1;
        /* Whoever ended in the moment in which another came was before it. */
        if (x->until != y->until)
                return x->until < y->until ? -1 : 1;
        return x->number < y->number ? -1 : 1;
}

void image_put_code_map(ImageIo *io, CodeMap *map)
{
        const BodyStore *store = &map->store;
        Order *order = malloc((store->n_bodies + 1) * sizeof(*order));
        bool is_sorted = true;
        uint32_t n = 0, i;

        if (!order) {
                image_refuse(io);
                return;
        }
        for (i = 0; i < store->n_chunks; i++)
                if (store->chunks[i])
                        put_chunk(io, store->chunks[i], i);
        for (i = 0; i < body_store_end(store); i++) {
                const Body *body = body_store_find(store, i);

                if (!body)
                        continue;
                order[n++] = (Order){body->since, body->until, i};
                is_sorted = is_sorted && (n < 2 || order[n - 2].since < body->since);
        }
        if (!is_sorted)
                qsort(order, n, sizeof(*order), compare_order);
        for (i = 0; i < n && !io->is_bad; i++)
                put_body(io, map, order[i].number);
        put_links(io, map);
        free(order);
}

void image_get_code_map(ImageIo *io, ImageTag tag, CodeMap *map, uint32_t n_modules)
{
        if (tag == IMAGE_CHUNK)
                get_chunk(io, map);
        else if (tag == IMAGE_BODY)
                get_body(io, map, n_modules);
        else
                get_links(io, map, n_modules);
}
