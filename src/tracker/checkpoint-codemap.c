/* SPDX-License-Identifier: MIT */

/*
 * Code maps in checkpoints: chunks, then bodies, then the lists that link them
 *
 * Every body gets its number back, and free numbers are reused in the same order, so that later
 * events have the same effect as without a checkpoint. Bodies come in order of their begin, because
 * the page index fills best that way.
 */

#include "tracker/checkpoint-parts.h"

#include "codemap/codemap-struct.h"

#include <stdlib.h>
#include <string.h>

static void checkpoint_names(CheckpointIo *io, Body *body)
{
        checkpoint_str(io, &body->name_space);
        checkpoint_str(io, &body->name);
        checkpoint_str(io, &body->signature);
}

void checkpoint_put_target_names(CheckpointIo *io, const StubTarget *target)
{
        checkpoint_put_name(io, target->name_space);
        checkpoint_put_name(io, target->name);
        checkpoint_put_name(io, target->signature);
}

void checkpoint_stub_target(CheckpointIo *io, StubTarget *target)
{
        checkpoint_str(io, &target->name_space);
        checkpoint_str(io, &target->name);
        checkpoint_str(io, &target->signature);
        if (!target->name)
                checkpoint_refuse(io);
}

void checkpoint_il_map(CheckpointIo *io, IlMap **map)
{
        uint32_t n = io->is_writing && *map ? (uint32_t)ilmap_size(*map) : 0;

        checkpoint_count(io, &n, 1);
        if (io->is_writing) {
                if (*map)
                        checkpoint_raw(io, (void *)ilmap_bytes(*map), n);
                return;
        }
        *map = n ? ilmap_from_bytes(io->at, n) : NULL;
        if (n && !*map)
                checkpoint_refuse(io);
        io->at += n;
}

static void checkpoint_confirmations(CheckpointIo *io, CodeMap *map, Body *body)
{
        GArray *confirmations = io->is_writing ? body->extra->confirmations : NULL;
        uint32_t n = confirmations ? confirmations->len : 0, i;
        uint64_t time;

        checkpoint_count(io, &n, sizeof(time));
        if (io->is_writing && n)
                checkpoint_raw(io, confirmations->data, n * sizeof(time));
        for (i = 0; !io->is_writing && i < n; i++) {
                checkpoint_u64(io, &time);
                body_confirm(&map->store, body, time);
        }
}

static void checkpoint_extra(CheckpointIo *io, CodeMap *map, Body *body)
{
        IlMap *il_map = io->is_writing ? body->extra->il_map : NULL;

        checkpoint_u64(io, &body_get_extra(&map->store, body)->seen);
        checkpoint_confirmations(io, map, body);
        checkpoint_il_map(io, &il_map);
        if (!io->is_writing)
                body_set_il_map(&map->store, body, il_map);
}

/* The fields that every body has. */
static void checkpoint_body(CheckpointIo *io, Body *body, bool *has_extra, bool *is_method)
{
        checkpoint_u64(io, &body->start);
        checkpoint_u64(io, &body->since);
        checkpoint_u64(io, &body->until);
        checkpoint_u64(io, &body->method_id);
        checkpoint_u32(io, &body->size);
        checkpoint_u32(io, &body->flags);
        checkpoint_u32(io, &body->token);
        checkpoint_u32(io, &body->rejit_id);
        checkpoint_u32(io, &body->jit_time);
        checkpoint_u32(io, &body->il_size);
        checkpoint_u32(io, &body->module);
        checkpoint_u32(io, &body->next);
        checkpoint_u32(io, &body->previous);
        checkpoint_u8(io, &body->source);
        checkpoint_u8(io, &body->end);
        checkpoint_bool(io, has_extra);
        checkpoint_bool(io, is_method);
        checkpoint_bool(io, &body->has_detail);
        checkpoint_names(io, body);
}

/* A stub's target may be missing here, unlike in the table of stubs. */
static void checkpoint_detail(CheckpointIo *io, BodyDetail *detail)
{
        checkpoint_str(io, &detail->stub.name_space);
        checkpoint_str(io, &detail->stub.name);
        checkpoint_str(io, &detail->stub.signature);
        checkpoint_str(io, &detail->type_args);
}

/* The names of an inlining follow its tree. */
static void checkpoint_inlining_names(CheckpointIo *io, Inlining *inlining)
{
        uint32_t n = inline_tree_n_nodes(inlining_tree(inlining)), i;

        for (i = 0; i < n; i++) {
                Str name = inlining_name(inlining, i);

                checkpoint_str(io, &name);
                if (!io->is_writing)
                        inlining_set_name(inlining, i, name);
        }
}

static void checkpoint_put_inlining(CheckpointIo *io, Inlining *inlining)
{
        g_autofree uint8_t *block = NULL;
        size_t n_block = 0;
        uint32_t n;

        if (inlining)
                block = inline_tree_block(inlining_tree(inlining), &n_block);
        n = (uint32_t)n_block;
        checkpoint_count(io, &n, 1);
        checkpoint_raw(io, block, n);
        if (inlining)
                checkpoint_inlining_names(io, inlining);
}

/* NULL: the body has none. */
static Inlining *checkpoint_get_inlining(CheckpointIo *io)
{
        InlineTree *tree;
        Inlining *inlining;
        uint32_t n;

        checkpoint_count(io, &n, 1);
        if (!n)
                return NULL;
        tree = inline_tree_new(io->at, n);
        io->at += n;
        if (!tree) {
                checkpoint_refuse(io);
                return NULL;
        }
        inlining = inlining_new(tree);
        checkpoint_inlining_names(io, inlining);
        return inlining;
}

static void checkpoint_put_detail(CheckpointIo *io, const CodeMap *map, const Body *body)
{
        BodyDetail detail = *body_detail(&map->store, body);

        checkpoint_detail(io, &detail);
        checkpoint_put_inlining(io, detail.inlining);
}

static void checkpoint_put_detail_names(CheckpointIo *io, const BodyDetail *detail)
{
        uint32_t n = detail->inlining ? inline_tree_n_nodes(inlining_tree(detail->inlining)) : 0, i;

        checkpoint_put_target_names(io, &detail->stub);
        checkpoint_put_name(io, detail->type_args);
        for (i = 0; i < n; i++)
                checkpoint_put_name(io, inlining_name(detail->inlining, i));
}

static void checkpoint_put_body(CheckpointIo *io, CodeMap *map, uint32_t number)
{
        Body *body = body_store_get(&map->store, number);
        bool has_extra = body->extra != NULL;
        bool is_method = body->until == BODY_FOREVER &&
                         codemap_method(map, body->method_id, body->rejit_id) == body;

        checkpoint_put_name(io, body->name_space);
        checkpoint_put_name(io, body->name);
        checkpoint_put_name(io, body->signature);
        if (body->has_detail)
                checkpoint_put_detail_names(io, body_detail(&map->store, body));
        checkpoint_begin(io, CHECKPOINT_BODY);
        checkpoint_u32(io, &number);
        checkpoint_body(io, body, &has_extra, &is_method);
        if (has_extra)
                checkpoint_extra(io, map, body);
        if (body->has_detail)
                checkpoint_put_detail(io, map, body);
}

static bool body_is_sound(const Body *body, uint32_t n_modules)
{
        return body->source < _BODY_SOURCE_MAX && body->end < BODY_END_FREE &&
               body_extent(body) - 1 <= UINT64_MAX - body->start && body->module <= n_modules;
}

static void checkpoint_get_detail(CheckpointIo *io, CodeMap *map, Body *body)
{
        BodyDetail detail = {0};

        checkpoint_detail(io, &detail);
        detail.inlining = checkpoint_get_inlining(io);
        body_set_detail(&map->store, body, map->names, &detail);
}

static void checkpoint_get_body(CheckpointIo *io, CodeMap *map, uint32_t n_modules)
{
        bool has_extra, is_method, has_detail;
        uint32_t number;
        Body *body, read = {0};

        checkpoint_u32(io, &number);
        checkpoint_body(io, &read, &has_extra, &is_method);
        body = io->is_bad || !body_is_sound(&read, n_modules)
                       ? NULL
                       : body_store_restore(&map->store, number);
        if (!body) {
                strtab_unref(io->names, read.name_space);
                strtab_unref(io->names, read.name);
                strtab_unref(io->names, read.signature);
                checkpoint_refuse(io);
                return;
        }
        has_detail = read.has_detail;
        *body = read;
        body->number = number;
        body->has_detail = false;
        if (has_extra)
                checkpoint_extra(io, map, body);
        if (has_detail)
                checkpoint_get_detail(io, map, body);
        pageindex_add(map->index, number);
        map->n_live += body->until == BODY_FOREVER;
        if (is_method)
                methodtable_add(&map->methods, body);
}

static void checkpoint_put_chunk(CheckpointIo *io, const BodyChunk *chunk, uint32_t i)
{
        uint16_t free[BODY_CHUNK];
        uint32_t n_touched = chunk->n_touched, n_free = 0, k;

        for (k = chunk->first_free; k != BODY_NONE; k = chunk->bodies[k].next)
                free[n_free++] = (uint16_t)k;
        checkpoint_begin(io, CHECKPOINT_CHUNK);
        checkpoint_u32(io, &i);
        checkpoint_u32(io, &n_touched);
        checkpoint_u32(io, &n_free);
        checkpoint_raw(io, free, n_free * sizeof(*free));
}

static void checkpoint_get_chunk(CheckpointIo *io, CodeMap *map)
{
        uint16_t free[BODY_CHUNK];
        uint32_t i, n_touched, n_free;

        checkpoint_u32(io, &i);
        checkpoint_u32(io, &n_touched);
        checkpoint_count(io, &n_free, sizeof(*free));
        if (io->is_bad || n_free > BODY_CHUNK) {
                checkpoint_refuse(io);
                return;
        }
        checkpoint_raw(io, free, n_free * sizeof(*free));
        if (!body_store_restore_chunk(&map->store, i, n_touched, free, n_free))
                checkpoint_refuse(io);
}

/* An array of u32. When reading, it is new, and owned by the caller. */
static void checkpoint_u32_array(CheckpointIo *io, uint32_t **list, uint32_t *count)
{
        checkpoint_count(io, count, sizeof(**list));
        if (!io->is_writing)
                *list = g_new0(uint32_t, MAX(*count, 1));
        checkpoint_raw(io, *list, *count * sizeof(**list));
}

static void checkpoint_links(CheckpointIo *io, CodeMap *map)
{
        checkpoint_u64(io, &map->newest);
        checkpoint_u64(io, &map->whole_since);
        checkpoint_u32(io, &map->first_dead);
        checkpoint_u32(io, &map->last_dead);
        checkpoint_u32(io, &map->il_map_cursor);
}

static void checkpoint_put_links(CheckpointIo *io, CodeMap *map)
{
        const BodyStore *store = &map->store;
        uint32_t *open = malloc((store->n_chunks + 1) * sizeof(*open)), n_open = 0, i;
        uint32_t *freed = (uint32_t *)(void *)store->freed->data;
        uint32_t *modules = (uint32_t *)(void *)map->modules->data;

        for (i = store->first_open; open && i != BODY_NONE; i = store->chunks[i]->next_open)
                open[n_open++] = i;
        if (!open)
                checkpoint_refuse(io);
        checkpoint_begin(io, CHECKPOINT_CODE_MAP);
        checkpoint_links(io, map);
        checkpoint_u32_array(io, &modules, &map->modules->len);
        checkpoint_u32_array(io, &open, &n_open);
        checkpoint_u32_array(io, &freed, &store->freed->len);
        free(open);
}

static Body *code_map_find(const CodeMap *map, uint32_t number)
{
        return number < body_store_end(&map->store) ? body_store_find(&map->store, number) : NULL;
}

/* True if the two bodies may be neighbours in a list. */
static bool bodies_are_alike(const Body *a, const Body *b)
{
        bool is_dead = a->until != BODY_FOREVER;

        return is_dead == (b->until != BODY_FOREVER) && (is_dead || a->module == b->module);
}

/* True if the body's neighbours link back to it: then a list with a beginning also has an end. */
static bool body_is_linked(const CodeMap *map, const Body *body)
{
        const Body *next = code_map_find(map, body->next),
                   *previous = code_map_find(map, body->previous);

        if ((body->next != BODY_NONE && (!next || next->previous != body->number)) ||
            (body->previous != BODY_NONE && (!previous || previous->next != body->number)))
                return false;
        if (next && !bodies_are_alike(body, next))
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

static bool code_map_heads_are_sound(const CodeMap *map)
{
        const Body *first = code_map_find(map, map->first_dead),
                   *last = code_map_find(map, map->last_dead), *body;
        uint32_t number;
        guint i;

        if ((map->first_dead != BODY_NONE && (!first || first->until == BODY_FOREVER)) ||
            (map->last_dead != BODY_NONE && (!last || last->until == BODY_FOREVER)) ||
            !first != !last || map->il_map_cursor > body_store_end(&map->store))
                return false;
        for (i = 0; i < map->modules->len; i++) {
                number = g_array_index(map->modules, uint32_t, i);
                body = code_map_find(map, number);
                if (number != BODY_NONE &&
                    (!body || body->until != BODY_FOREVER || body->module != i + 1))
                        return false;
        }
        return true;
}

static void checkpoint_get_links(CheckpointIo *io, CodeMap *map, uint32_t n_modules)
{
        g_autofree uint32_t *modules = NULL, *open = NULL, *freed = NULL;
        uint32_t n, n_open, n_freed, i;

        checkpoint_links(io, map);
        checkpoint_u32_array(io, &modules, &n);
        checkpoint_u32_array(io, &open, &n_open);
        checkpoint_u32_array(io, &freed, &n_freed);
        if (io->is_bad || n > n_modules || map->modules->len) {
                checkpoint_refuse(io);
                return;
        }
        g_array_append_vals(map->modules, modules, n);
        account_add(map->store.account, n * sizeof(uint32_t));
        if (!body_store_restore_end(&map->store, open, n_open, freed, n_freed) ||
            !code_map_heads_are_sound(map))
                checkpoint_refuse(io);
        for (i = 0; !io->is_bad && i < body_store_end(&map->store); i++) {
                const Body *body = body_store_find(&map->store, i);

                if (body && !body_is_linked(map, body))
                        checkpoint_refuse(io);
        }
}

typedef struct BodyOrder {
        uint64_t since, until;
        uint32_t number;
} BodyOrder;

static int compare_body_order(const void *a, const void *b)
{
        const BodyOrder *x = a, *y = b;

        if (x->since != y->since)
                return x->since < y->since ? -1 : 1;
        /* If a body ended in the moment in which another began, it came before that one. */
        if (x->until != y->until)
                return x->until < y->until ? -1 : 1;
        return x->number < y->number ? -1 : 1;
}

void checkpoint_put_code_map(CheckpointIo *io, CodeMap *map)
{
        const BodyStore *store = &map->store;
        BodyOrder *order = malloc((store->n_bodies + 1) * sizeof(*order));
        bool is_sorted = true;
        uint32_t n = 0, i;

        if (!order) {
                checkpoint_refuse(io);
                return;
        }
        for (i = 0; i < store->n_chunks; i++)
                if (store->chunks[i])
                        checkpoint_put_chunk(io, store->chunks[i], i);
        for (i = 0; i < body_store_end(store); i++) {
                const Body *body = body_store_find(store, i);

                if (!body)
                        continue;
                order[n++] = (BodyOrder){body->since, body->until, i};
                is_sorted = is_sorted && (n < 2 || order[n - 2].since < body->since);
        }
        if (!is_sorted)
                qsort(order, n, sizeof(*order), compare_body_order);
        for (i = 0; i < n && !io->is_bad; i++)
                checkpoint_put_body(io, map, order[i].number);
        checkpoint_put_links(io, map);
        free(order);
}

void checkpoint_get_code_map(CheckpointIo *io, CheckpointTag tag, CodeMap *map, uint32_t n_modules)
{
        if (tag == CHECKPOINT_CHUNK)
                checkpoint_get_chunk(io, map);
        else if (tag == CHECKPOINT_BODY)
                checkpoint_get_body(io, map, n_modules);
        else
                checkpoint_get_links(io, map, n_modules);
}
