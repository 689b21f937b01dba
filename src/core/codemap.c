/* SPDX-License-Identifier: MIT */
#include "core/codemap.h"

#include "core/methodtable.h"
#include "core/pageindex.h"

struct CodeMap {
        Strtab *names; /* borrowed */
        BodyStore store;
        PageIndex *index;
        MethodTable methods;
        uint32_t n_live;
        uint64_t newest; /* latest time of any insertion or end */
        uint64_t epoch;
        size_t n_extra_bytes; /* IL maps and extras */
};

CodeMap *codemap_new(Strtab *names)
{
        CodeMap *map = g_new0(CodeMap, 1);

        map->names = names;
        map->store = BODY_STORE_INIT;
        map->index = pageindex_new(&map->store);
        methodtable_init(&map->methods, &map->store);
        map->epoch = 1;
        return map;
}

void codemap_free(CodeMap *map)
{
        if (!map)
                return;
        pageindex_free(map->index);
        methodtable_deinit(&map->methods);
        body_store_deinit(&map->store, map->names);
        g_free(map);
}

/* A body joins the living, and leaves them. */
static void join(CodeMap *map, Body *body)
{
        map->n_live++;
        methodtable_add(&map->methods, body);
}

static void leave(CodeMap *map, Body *body)
{
        map->n_live--;
        methodtable_remove(&map->methods, body);
}

void codemap_end(CodeMap *map, Body *body, uint64_t time, BodyEnd end)
{
        if (body->until == BODY_FOREVER)
                leave(map, body);
        body->until = MAX(time, body->since);
        body->end = (uint8_t)end;
        map->newest = MAX(map->newest, time);
        map->epoch++;
}

/*
 * Makes room in time for BODY, which is known to be alive at TIME (UNLOAD: up to TIME): cuts others
 * that claim that moment, sets its since, and cuts its until by what is known to come later.
 */
static void claim(CodeMap *map, Body *body, uint64_t time)
{
        g_autoptr(GPtrArray) others = g_ptr_array_new();
        bool is_load = body->source == BODY_SOURCE_LOAD;
        bool is_unload = body->source == BODY_SOURCE_UNLOAD;
        guint i;

        body->since = is_load ? time : 0;
        body->until = is_unload ? time : BODY_FOREVER;
        /* A load begins now: what ended before does not matter to it. */
        pageindex_overlaps(map->index, body->start, body_last(body), is_load ? time : 0, others);
        for (i = 0; i < others->len; i++) {
                Body *other = others->pdata[i];

                if (other == body)
                        continue;
                if (other->since > time || (is_unload && other->until >= time))
                        body->until = MIN(body->until, other->since);
                else if (other->until > time)
                        codemap_end(map, other, time, BODY_END_EVICTED);
                if (!is_load && other->until <= time)
                        body->since = MAX(body->since, other->until);
        }
        if (body->until != BODY_FOREVER && !is_unload)
                body->end = BODY_END_EVICTED;
}

static BodyExtra *body_extra(CodeMap *map, Body *body)
{
        if (!body->extra) {
                body->extra = g_new0(BodyExtra, 1);
                map->n_extra_bytes += sizeof(BodyExtra);
        }
        return body->extra;
}

Body *codemap_insert(CodeMap *map, const Body *template, uint64_t time)
{
        Body *body = body_store_add(&map->store);
        uint32_t number = body->number;

        *body = *template;
        body->number = number;
        body->next = BODY_NONE;
        body->end = body->source == BODY_SOURCE_UNLOAD ? BODY_END_UNLOAD : BODY_END_NONE;
        claim(map, body, time);
        if (body->source == BODY_SOURCE_UNLOAD && body->since >= body->until) {
                body_store_remove(&map->store, body, map->names);
                return NULL;
        }
        if (body->since != time)
                body_extra(map, body)->seen = time;
        pageindex_add(map->index, number);
        if (body->until == BODY_FOREVER)
                join(map, body);
        map->newest = MAX(map->newest, time);
        map->epoch++;
        return body;
}

void codemap_resize(CodeMap *map, Body *body, uint32_t size, uint64_t time)
{
        uint64_t until = body->until, seen = body_seen(body);
        BodyEnd end = (BodyEnd)body->end;

        pageindex_remove(map->index, body->number);
        if (until == BODY_FOREVER)
                leave(map, body);
        body->size = size;
        claim(map, body, time);
        if (until < body->until) {
                body->until = until;
                body->end = (uint8_t)end;
        }
        if (body->since != seen)
                body_extra(map, body)->seen = seen;
        pageindex_add(map->index, body->number);
        if (body->until == BODY_FOREVER)
                join(map, body);
        map->epoch++;
}

void codemap_remove(CodeMap *map, Body *body)
{
        pageindex_remove(map->index, body->number);
        if (body->until == BODY_FOREVER)
                leave(map, body);
        body_store_remove(&map->store, body, map->names);
        map->epoch++;
}

void codemap_confirm(CodeMap *map, Body *body, uint64_t time)
{
        BodyExtra *extra = body_extra(map, body);
        guint i;

        if (!extra->confirmations)
                extra->confirmations = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        for (i = extra->confirmations->len; i > 0; i--)
                if (g_array_index(extra->confirmations, uint64_t, i - 1) <= time)
                        break;
        g_array_insert_val(extra->confirmations, i, time);
        map->n_extra_bytes += sizeof(uint64_t);
}

Body *codemap_at(const CodeMap *map, uint64_t address, uint64_t time)
{
        return pageindex_at(map->index, address, time);
}

Body *codemap_live(const CodeMap *map, uint64_t address)
{
        /* Nobody ends in the last moment of all, so who is alive then is alive. */
        return pageindex_at(map->index, address, BODY_FOREVER - 1);
}

Body *codemap_live_at_start(const CodeMap *map, uint64_t start)
{
        Body *body = codemap_live(map, start);

        return body && body->start == start ? body : NULL;
}

void codemap_neighbours(const CodeMap *map, uint64_t address, uint64_t time, Body **ret_before,
                        Body **ret_after)
{
        pageindex_neighbours(map->index, address, time, ret_before, ret_after);
}

static gint newest_first(gconstpointer a, gconstpointer b)
{
        const Body *x = *(Body *const *)a, *y = *(Body *const *)b;

        return x->since > y->since ? -1 : x->since < y->since;
}

void codemap_history(const CodeMap *map, uint64_t address, GPtrArray *out)
{
        pageindex_overlaps(map->index, address, address, 0, out);
        g_ptr_array_sort(out, newest_first);
}

Body *codemap_method(const CodeMap *map, uint64_t method_id, uint32_t rejit_id)
{
        return methodtable_find(&map->methods, method_id, rejit_id);
}

uint32_t codemap_n_numbers(const CodeMap *map)
{
        return map->store.n_used;
}

Body *codemap_body(const CodeMap *map, uint32_t number)
{
        Body *body = body_store_get(&map->store, number);

        return body_is_free(body) ? NULL : body;
}

uint32_t codemap_n_bodies(const CodeMap *map)
{
        return map->store.n_bodies;
}

uint32_t codemap_n_live(const CodeMap *map)
{
        return map->n_live;
}

uint64_t codemap_epoch(const CodeMap *map)
{
        return map->epoch;
}

size_t codemap_bytes(const CodeMap *map)
{
        return sizeof(*map) + body_store_bytes(&map->store) + pageindex_bytes(map->index) +
               methodtable_bytes(&map->methods) + map->n_extra_bytes;
}
