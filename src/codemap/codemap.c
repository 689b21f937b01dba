/* SPDX-License-Identifier: MIT */
#include "codemap/codemap.h"

#include "codemap/codemap-struct.h"

/* Two states of code maps never share an epoch. */
static void codemap_next_epoch(CodeMap *map)
{
        map->epoch = account_next_epoch(map->store.account);
        map->is_epoch_known = false;
}

CodeMap *codemap_new(Strtab *names, Account *account)
{
        CodeMap *map = g_new0(CodeMap, 1);

        map->names = names;
        body_store_init(&map->store, account);
        map->modules = g_array_new(FALSE, FALSE, sizeof(uint32_t));
        map->first_dead = BODY_NONE;
        map->last_dead = BODY_NONE;
        map->index = pageindex_new(&map->store);
        methodtable_init(&map->methods, &map->store);
        codemap_next_epoch(map);
        return map;
}

void codemap_free(CodeMap *map)
{
        if (!map)
                return;
        pageindex_free(map->index);
        methodtable_deinit(&map->methods);
        account_remove(map->store.account, map->modules->len * sizeof(uint32_t));
        body_store_deinit(&map->store, map->names);
        g_array_unref(map->modules);
        g_free(map);
}

static Body *codemap_get(const CodeMap *map, uint32_t number)
{
        return number == BODY_NONE ? NULL : body_store_get(&map->store, number);
}

static void module_add(CodeMap *map, Body *body)
{
        uint32_t *newest = &g_array_index(map->modules, uint32_t, body->module - 1);
        Body *other = codemap_get(map, *newest);

        body->next = *newest;
        body->previous = BODY_NONE;
        if (other)
                other->previous = body->number;
        *newest = body->number;
}

static void module_remove(CodeMap *map, Body *body)
{
        Body *next = codemap_get(map, body->next), *previous = codemap_get(map, body->previous);

        if (next)
                next->previous = body->previous;
        if (previous)
                previous->next = body->next;
        else
                g_array_index(map->modules, uint32_t, body->module - 1) = body->next;
}

static void dead_add(CodeMap *map, Body *body)
{
        Body *last = codemap_get(map, map->last_dead);

        body->next = BODY_NONE;
        body->previous = map->last_dead;
        if (last)
                last->next = body->number;
        else
                map->first_dead = body->number;
        map->last_dead = body->number;
        map->store.account->may_evict = true;
}

static void dead_remove(CodeMap *map, Body *body)
{
        Body *next = codemap_get(map, body->next), *previous = codemap_get(map, body->previous);

        if (next)
                next->previous = body->previous;
        else
                map->last_dead = body->previous;
        if (previous)
                previous->next = body->next;
        else
                map->first_dead = body->next;
}

static void living_add(CodeMap *map, Body *body)
{
        map->n_live++;
        map->living_cursor = MIN(map->living_cursor, body->number);
        methodtable_add(&map->methods, body);
}

static void living_to_dead(CodeMap *map, Body *body)
{
        map->n_live--;
        methodtable_remove(&map->methods, body);
        if (body->module)
                module_remove(map, body);
        dead_add(map, body);
}

static void codemap_note_change(CodeMap *map, const Body *body, bool is_end)
{
        const CodeMapChange change = {body->number, is_end};

        if (map->changes)
                g_array_append_val(map->changes, change);
}

static void body_set_since(CodeMap *map, Body *body, uint64_t since)
{
        uint64_t seen = body_seen(body);

        pageindex_remove(map->index, body->number);
        body->since = since;
        if (since != seen)
                body_get_extra(&map->store, body)->seen = seen;
        pageindex_add(map->index, body->number);
        codemap_next_epoch(map);
}

static BodyDetail codemap_copy_detail(CodeMap *map, const Body *body)
{
        const BodyDetail *detail = body_detail(&map->store, body);

        if (!detail)
                return (BodyDetail){0};
        return (BodyDetail){
                .stub = {strtab_ref(map->names, detail->stub.name_space),
                         strtab_ref(map->names, detail->stub.name),
                         strtab_ref(map->names, detail->stub.signature)},
                .type_args = strtab_ref(map->names, detail->type_args),
                .inlining = inlining_ref(detail->inlining),
        };
}

/* REST is the same code as BODY. */
static void body_share_detail(CodeMap *map, const Body *body, Body *rest)
{
        BodyDetail copy;

        rest->has_detail = false;
        if (!body->has_detail)
                return;
        copy = codemap_copy_detail(map, body);
        body_set_detail(&map->store, rest, map->names, &copy);
}

/* Ends BODY at TIME. Returns a new body for the rest of its life, from SINCE on. */
static Body *body_split(CodeMap *map, Body *body, uint64_t time, BodyEnd end, uint64_t since)
{
        Body *rest = body_store_add(&map->store);
        uint32_t number = rest->number;

        if (body->until == BODY_FOREVER)
                living_to_dead(map, body);
        *rest = *body;
        rest->number = number;
        rest->next = BODY_NONE;
        rest->previous = BODY_NONE;
        rest->extra = NULL;
        rest->since = since;
        if (rest->source != BODY_SOURCE_R2R_ENTRY)
                rest->source = BODY_SOURCE_RUNDOWN;
        rest->name_space = strtab_ref(map->names, body->name_space);
        rest->name = strtab_ref(map->names, body->name);
        rest->signature = strtab_ref(map->names, body->signature);
        rest->jit_time = 0;
        body_share_detail(map, body, rest);
        body_hand_over(&map->store, body, rest, time);
        map->il_map_cursor = MIN(map->il_map_cursor, number);
        body->until = time;
        body->end = (uint8_t)end;
        pageindex_add(map->index, number);
        if (rest->until == BODY_FOREVER) {
                living_add(map, rest);
                if (rest->module)
                        module_add(map, rest);
        } else {
                dead_add(map, rest);
        }
        codemap_next_epoch(map);
        codemap_note_change(map, body, true);
        codemap_note_change(map, rest, false);
        return rest;
}

/* Like codemap_end(), and returns the new body for the rest of its life, or NULL. */
static Body *body_cut(CodeMap *map, Body *body, uint64_t time, BodyEnd end)
{
        uint64_t next = body_next_seen(body, time);

        map->newest = MAX(map->newest, time);
        if (next < body->until && end != BODY_END_UNLOAD && body_next_seen(body, 0) > time) {
                body_set_since(map, body, next);
                return NULL;
        }
        if (next < body->until)
                return body_split(map, body, time, end, next);
        if (body->until == BODY_FOREVER)
                living_to_dead(map, body);
        body->until = MAX(time, body->since);
        body->end = (uint8_t)end;
        codemap_next_epoch(map);
        codemap_note_change(map, body, true);
        return NULL;
}

void codemap_end(CodeMap *map, Body *body, uint64_t time, BodyEnd end)
{
        body_cut(map, body, time, end);
}

void codemap_begin(CodeMap *map, Body *body, uint64_t time)
{
        body_set_since(map, body, time);
        body->source = BODY_SOURCE_LOAD;
        body_confirm(&map->store, body, time);
}

Body *codemap_next(const CodeMap *map, const Body *body)
{
        g_autoptr(GPtrArray) others =
                pageindex_overlaps(map->index, body->start, body_last(body), body->since);
        Body *next = NULL;
        guint i;

        for (i = 0; others && i < others->len; i++) {
                Body *other = others->pdata[i];

                if (other == body || other->since <= body->since || other->since > body->until)
                        continue;
                if (next)
                        return NULL;
                next = other;
        }
        return next;
}

/*
 * Makes room for BODY, which is known to be alive at TIME (UNLOAD: up to TIME). Ends the other
 * bodies that were alive at its addresses then. Sets its since and until from the earlier and the
 * later bodies there.
 */
static void body_claim(CodeMap *map, Body *body, BodySource source, uint64_t time)
{
        bool is_load = source == BODY_SOURCE_LOAD;
        bool is_unload = source == BODY_SOURCE_UNLOAD;
        /* A load begins now: bodies that ended before do not matter to it. */
        g_autoptr(GPtrArray) others =
                pageindex_overlaps(map->index, body->start, body_last(body), is_load ? time : 0);
        guint i;

        body->since = is_load ? time : 0;
        body->until = is_unload ? time : BODY_FOREVER;
        for (i = 0; others && i < others->len; i++) {
                Body *other = others->pdata[i], *rest = NULL;

                if (other == body)
                        continue;
                if (!is_unload && other->since <= time && time < other->until)
                        rest = body_cut(map, other, time, BODY_END_REPLACED);
                if (rest)
                        g_ptr_array_add(others, rest);
                if (other->since > time || (is_unload && other->until >= time))
                        body->until = MIN(body->until, other->since);
                if (!is_load && other->until <= time)
                        body->since = MAX(body->since, other->until);
        }
        if (body->until != BODY_FOREVER && !is_unload)
                body->end = BODY_END_REPLACED;
}

Body *codemap_insert(CodeMap *map, const Body *template, uint64_t time)
{
        Body *body = body_store_add(&map->store);
        uint32_t number = body->number;

        *body = *template;
        body->number = number;
        body->next = BODY_NONE;
        body->previous = BODY_NONE;
        body->end = body->source == BODY_SOURCE_UNLOAD ? BODY_END_UNLOAD : BODY_END_NONE;
        body_claim(map, body, (BodySource)body->source, time);
        if (map->whole_since == BODY_NOW && body->source != BODY_SOURCE_LOAD)
                body->since = MAX(body->since, time);
        if (body->source == BODY_SOURCE_UNLOAD && body->since >= body->until) {
                body_store_remove(&map->store, body, map->names);
                return NULL;
        }
        if (body->since != time)
                body_get_extra(&map->store, body)->seen = time;
        /* If no body was ever there, no answer was a name, and the epoch stays. */
        if (map->is_epoch_known && pageindex_was_used(map->index, body->start, body_last(body)))
                codemap_next_epoch(map);
        pageindex_add(map->index, number);
        if (body->until == BODY_FOREVER)
                living_add(map, body);
        else
                dead_add(map, body);
        map->newest = MAX(map->newest, time);
        codemap_note_change(map, body, false);
        return body;
}

void codemap_resize(CodeMap *map, Body *body, uint32_t size, uint64_t time)
{
        uint64_t since = body->since, until = body->until, seen = body_seen(body);
        BodyEnd end = (BodyEnd)body->end;

        pageindex_remove(map->index, body->number);
        body->size = size;
        body_claim(map, body, BODY_SOURCE_RUNDOWN, time);
        body->since = MAX(body->since, since);
        if (until <= body->until) {
                body->until = until;
                body->end = (uint8_t)end;
        }
        if (body->since != seen)
                body_get_extra(&map->store, body)->seen = seen;
        pageindex_add(map->index, body->number);
        if (until == BODY_FOREVER && body->until != BODY_FOREVER)
                living_to_dead(map, body);
        codemap_next_epoch(map);
}

void codemap_replace(CodeMap *map, uint64_t first, uint64_t last, uint64_t time)
{
        g_autoptr(GPtrArray) others = pageindex_overlaps(map->index, first, last, BODY_NOW);
        guint i;

        for (i = 0; others && i < others->len; i++)
                if (((const Body *)others->pdata[i])->since <= time)
                        codemap_end(map, others->pdata[i], time, BODY_END_REPLACED);
}

static void codemap_forget(CodeMap *map, Body *body)
{
        pageindex_remove(map->index, body->number);
        body_store_remove(&map->store, body, map->names);
}

void codemap_remove(CodeMap *map, Body *body)
{
        codemap_next_epoch(map);
        if (body->until == BODY_FOREVER)
                living_to_dead(map, body);
        dead_remove(map, body);
        codemap_forget(map, body);
}

const Body *codemap_oldest_dead(const CodeMap *map)
{
        return codemap_get(map, map->first_dead);
}

void codemap_forget_oldest_dead(CodeMap *map)
{
        Body *body = codemap_get(map, map->first_dead);

        map->whole_since = MAX(map->whole_since, body->until);
        dead_remove(map, body);
        codemap_forget(map, body);
}

uint64_t codemap_whole_since(const CodeMap *map)
{
        return map->whole_since;
}

uint32_t codemap_forget_living(CodeMap *map, uint32_t count)
{
        uint32_t n = 0;

        for (; n < count && map->living_cursor < body_store_end(&map->store);
             map->living_cursor++) {
                Body *body = body_store_find(&map->store, map->living_cursor);

                if (!body || body->until != BODY_FOREVER)
                        continue;
                codemap_remove(map, body);
                map->whole_since = BODY_NOW;
                n++;
        }
        return n;
}

bool codemap_forget_il_maps(CodeMap *map, uint32_t count)
{
        bool has_found = false;

        for (; count > 0 && map->il_map_cursor < body_store_end(&map->store);
             map->il_map_cursor++) {
                Body *body = body_store_find(&map->store, map->il_map_cursor);

                if (!body || !body_il_map(body))
                        continue;
                body_set_il_map(&map->store, body, NULL);
                has_found = true;
                count--;
        }
        return has_found;
}

void codemap_set_module(CodeMap *map, Body *body, uint32_t module)
{
        const uint32_t none = BODY_NONE;

        while (map->modules->len < module) {
                g_array_append_val(map->modules, none);
                account_change(map->store.account, (map->modules->len - 1) * sizeof(none),
                               map->modules->len * sizeof(none));
        }
        body->module = module;
        if (body->until == BODY_FOREVER)
                module_add(map, body);
}

static Body *module_newest(const CodeMap *map, uint32_t module)
{
        return module <= map->modules->len
                       ? codemap_get(map, g_array_index(map->modules, uint32_t, module - 1))
                       : NULL;
}

void codemap_end_module(CodeMap *map, uint32_t module, uint64_t time)
{
        Body *body, *next;

        for (body = module_newest(map, module); body; body = next) {
                next = codemap_get(map, body->next);
                if (body->since <= time)
                        body_cut(map, body, time, BODY_END_MODULE);
        }
}

void codemap_move_module(CodeMap *map, uint32_t from, uint32_t to)
{
        Body *body;

        while ((body = module_newest(map, from))) {
                module_remove(map, body);
                codemap_set_module(map, body, to);
        }
}

bool codemap_has_module(const CodeMap *map, uint32_t module)
{
        return module_newest(map, module) != NULL;
}

void codemap_set_il_map(CodeMap *map, Body *body, IlMap *il_map)
{
        body_set_il_map(&map->store, body, il_map);
        map->il_map_cursor = MIN(map->il_map_cursor, body->number);
}

void codemap_confirm(CodeMap *map, Body *body, uint64_t time)
{
        body_confirm(&map->store, body, time);
}

size_t codemap_growth(const CodeMap *map)
{
        return body_store_growth(&map->store) + pageindex_growth(map->index) +
               methodtable_growth(&map->methods);
}

const PageIndex *codemap_index(const CodeMap *map)
{
        return map->index;
}

Body *codemap_at(const CodeMap *map, uint64_t address, uint64_t time)
{
        return pageindex_at(map->index, address, time);
}

Body *codemap_live(const CodeMap *map, uint64_t address)
{
        return pageindex_at(map->index, address, BODY_NOW);
}

void codemap_neighbours(const CodeMap *map, uint64_t address, uint64_t time, Body **ret_before,
                        Body **ret_after)
{
        pageindex_neighbours(map->index, address, time, ret_before, ret_after);
}

bool codemap_history(const CodeMap *map, uint64_t address, HistoryPlace *place, guint most,
                     GPtrArray *out)
{
        return pageindex_walk(map->index, address, place, most, out);
}

size_t codemap_newest(const CodeMap *map, uint64_t address, guint most, GPtrArray *out)
{
        return pageindex_newest(map->index, address, most, out);
}

Body *codemap_method(const CodeMap *map, uint64_t method_id, uint32_t rejit_id)
{
        return methodtable_find(&map->methods, method_id, rejit_id);
}

uint32_t codemap_n_numbers(const CodeMap *map)
{
        return body_store_end(&map->store);
}

Body *codemap_body(const CodeMap *map, uint32_t number)
{
        return body_store_find(&map->store, number);
}

uint32_t codemap_n_bodies(const CodeMap *map)
{
        return map->store.n_bodies;
}

uint32_t codemap_n_live(const CodeMap *map)
{
        return map->n_live;
}

void codemap_change_epoch(CodeMap *map)
{
        codemap_next_epoch(map);
}

uint64_t codemap_epoch(CodeMap *map)
{
        map->is_epoch_known = true;
        return map->epoch;
}

void codemap_rename(CodeMap *map, Body *body, Str name_space, Str name, Str signature)
{
        body->name_space = strtab_ref(map->names, name_space);
        body->name = strtab_ref(map->names, name);
        body->signature = strtab_ref(map->names, signature);
        codemap_next_epoch(map);
}

void codemap_set_stub_target(CodeMap *map, Body *body, const StubTarget *target)
{
        BodyDetail detail = codemap_copy_detail(map, body);

        strtab_unref(map->names, detail.stub.name_space);
        strtab_unref(map->names, detail.stub.name);
        strtab_unref(map->names, detail.stub.signature);
        detail.stub = *target;
        body_set_detail(&map->store, body, map->names, &detail);
}

const StubTarget *codemap_stub_target(const CodeMap *map, const Body *body)
{
        const BodyDetail *detail = body_detail(&map->store, body);

        return detail && detail->stub.name ? &detail->stub : NULL;
}

void codemap_set_type_args(CodeMap *map, Body *body, Str type_args)
{
        BodyDetail detail = codemap_copy_detail(map, body);

        strtab_unref(map->names, detail.type_args);
        detail.type_args = type_args;
        body_set_detail(&map->store, body, map->names, &detail);
}

Str codemap_type_args(const CodeMap *map, const Body *body)
{
        const BodyDetail *detail = body_detail(&map->store, body);

        return detail ? detail->type_args : 0;
}

void codemap_set_inlining(CodeMap *map, Body *body, Inlining *inlining)
{
        BodyDetail detail = codemap_copy_detail(map, body);

        inlining_unref(detail.inlining, map->names);
        detail.inlining = inlining;
        body_set_detail(&map->store, body, map->names, &detail);
}

Inlining *codemap_inlining(const CodeMap *map, const Body *body)
{
        const BodyDetail *detail = body_detail(&map->store, body);

        return detail ? detail->inlining : NULL;
}

void codemap_set_changes(CodeMap *map, GArray *changes)
{
        map->changes = changes;
}
