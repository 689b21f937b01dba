/* SPDX-License-Identifier: MIT */
#include "support/naive.h"

#include "support/world.h"

const ProcessKey KEYS[N_KEYS] = {{0, 100}, {0, 101}, {7, 100}};
const unsigned STREAM_TRACE[N_STREAMS] = {0, 0, 1};

static bool overlap(const NaiveBody *a, const NaiveBody *b)
{
        return a->start < b->start + naive_extent(b) && b->start < a->start + naive_extent(a);
}

static bool same(const NaiveBody *a, const NaiveBody *b)
{
        return a->start == b->start && a->id == b->id &&
               (!a->size || !b->size || (a->size == b->size && a->name == b->name));
}

static void sight(NaiveBody *body, uint64_t time)
{
        if (!body->sighted)
                body->sighted = g_array_new(FALSE, FALSE, sizeof(uint64_t));
        g_array_append_val(body->sighted, time);
}

static uint64_t last_sight(const NaiveBody *body)
{
        uint64_t last = body->seen;
        guint i;

        for (i = 0; body->sighted && i < body->sighted->len; i++)
                last = MAX(last, g_array_index(body->sighted, uint64_t, i));
        return last;
}

/* The first sighting after a time, or BODY_FOREVER. */
static uint64_t next_sight(const NaiveBody *body, uint64_t time)
{
        uint64_t next = body->seen > time ? body->seen : BODY_FOREVER;
        guint i;

        for (i = 0; body->sighted && i < body->sighted->len; i++) {
                uint64_t sight = g_array_index(body->sighted, uint64_t, i);

                if (sight > time)
                        next = MIN(next, sight);
        }
        return next;
}

static void body_free(gpointer data)
{
        NaiveBody *body = data;

        g_clear_pointer(&body->sighted, g_array_unref);
        g_free(body);
}

/*
 * Ends the body's life. If it was sighted later, too, it existed again from then on, as another
 * body. If it was only sighted later (an unload is a sighting), it did not exist before.
 */
static void finish(Naive *naive, NaiveBody *body, uint64_t time, BodyEnd end)
{
        uint64_t next = next_sight(body, time);
        NaiveBody *rest;
        guint i;

        if (next < body->until && next_sight(body, 0) == next && end != BODY_END_UNLOAD) {
                body->since = next;
                return;
        }
        if (next < body->until) {
                rest = g_memdup2(body, sizeof(*body));
                rest->since = rest->seen = next;
                rest->sighted = NULL;
                if (rest->source != BODY_SOURCE_R2R_ENTRY)
                        rest->source = BODY_SOURCE_RUNDOWN;
                for (i = body->sighted ? body->sighted->len : 0; i-- > 0;) {
                        uint64_t sight_time = g_array_index(body->sighted, uint64_t, i);

                        if (sight_time <= time)
                                continue;
                        sight(rest, sight_time);
                        g_array_remove_index(body->sighted, i);
                }
                g_ptr_array_add(naive->bodies, rest);
        }
        body->until = time;
        body->end = end;
}

Naive *naive_new(World *w, ProcessKey key, unsigned generation, uint64_t time)
{
        Naive *naive = g_new0(Naive, 1);

        naive->key = key;
        naive->generation = generation;
        naive->begin = time;
        naive->exit = BODY_FOREVER;
        naive->refused_since = BODY_FOREVER;
        naive->bodies = g_ptr_array_new_with_free_func(body_free);
        naive->modules = g_array_new(FALSE, FALSE, sizeof(NaiveModule));
        naive->rundowns = g_array_new(FALSE, FALSE, sizeof(Span));
        naive->reported = g_array_new(FALSE, FALSE, sizeof(Span));
        naive->inferred = g_array_new(FALSE, FALSE, sizeof(Span));
        naive->unannounced = g_array_new(FALSE, FALSE, sizeof(NaiveUnannounced));
        g_ptr_array_add(w->lives, naive);
        return naive;
}

void naive_free(gpointer data)
{
        Naive *naive = data;

        g_ptr_array_unref(naive->bodies);
        g_array_unref(naive->modules);
        g_array_unref(naive->rundowns);
        g_array_unref(naive->reported);
        g_array_unref(naive->inferred);
        g_array_unref(naive->unannounced);
        g_free(naive);
}

/* The last generation with the key, or NULL. */
Naive *naive_newest_life(const World *w, ProcessKey key)
{
        guint i;

        for (i = w->lives->len; i-- > 0;) {
                Naive *naive = w->lives->pdata[i];

                if (!naive->is_dropped && naive->key.pid == key.pid &&
                    naive->key.pid_ns == key.pid_ns)
                        return naive;
        }
        return NULL;
}

/* The generation with the key at a time; before the first, the first. */
Naive *naive_life_at(const World *w, ProcessKey key, uint64_t time)
{
        Naive *first = NULL;
        guint i;

        for (i = w->lives->len; i-- > 0;) {
                Naive *naive = w->lives->pdata[i];

                if (naive->key.pid != key.pid || naive->key.pid_ns != key.pid_ns)
                        continue;
                if (naive->begin <= time)
                        return naive;
                first = naive;
        }
        return first;
}

static bool touches(const Span *span, uint64_t begin, uint64_t end)
{
        return span->begin <= end && begin <= span->end;
}

static bool is_in(const GArray *spans, uint64_t begin, uint64_t end)
{
        guint i;

        for (i = 0; i < spans->len; i++)
                if (touches(&g_array_index(spans, Span, i), begin, end))
                        return true;
        return false;
}

bool naive_lost(const World *w, const Naive *naive, uint64_t begin, uint64_t end)
{
        guint i;

        for (i = 0; i < w->gaps->len; i++) {
                const Span *gap = &g_array_index(w->gaps, Span, i);

                if (naive->has_trace[gap->trace] && gap->begin <= end && begin <= gap->end)
                        return true;
        }
        if (is_in(naive->reported, begin, end) || is_in(naive->inferred, begin, end) ||
            (naive->open_gap && naive->open_gap <= end))
                return true;
        for (i = 0; i < 2; i++) {
                const Span *inference = &naive->inference[i];

                if (inference->begin && inference->begin <= end && begin <= inference->end)
                        return true;
        }
        return naive->refused_since <= end;
}

/*
 * The time up to which all streams of its traces were received, except traces that have ended.
 * RET_IS_OPEN, unless NULL: not all of them have.
 */
uint64_t naive_horizon(const World *w, const Naive *naive, bool *ret_is_open)
{
        uint64_t least = UINT64_MAX, most_ended = 0;
        unsigned trace, i;

        for (trace = 0; trace < 2; trace++) {
                uint64_t open = UINT64_MAX, ended = 0;

                for (i = 0; i < N_STREAMS; i++) {
                        const NaiveStream *stream = &w->naive_streams[i];

                        if (STREAM_TRACE[i] != trace)
                                continue;
                        if (stream->has_ended)
                                ended = MAX(ended, stream->progress);
                        else
                                open = MIN(open, stream->progress);
                }
                if (!naive->has_trace[trace])
                        continue;
                if (open == UINT64_MAX)
                        most_ended = MAX(most_ended, ended);
                else
                        least = MIN(least, open);
        }
        if (ret_is_open)
                *ret_is_open = least != UINT64_MAX;
        return least == UINT64_MAX ? most_ended : least;
}

/* --- Events ----------------------------------------------------------------------------------- */

/* The body of an event: present at that time. NULL: none. */
static NaiveBody *known(Naive *naive, const NaiveBody *incoming, uint64_t time)
{
        guint i;

        for (i = 0; i < naive->bodies->len; i++)
                if (naive_is_alive(BODY(naive, i), time) && same(BODY(naive, i), incoming))
                        return BODY(naive, i);
        return NULL;
}

/*
 * Makes room for INCOMING, alive at TIME (an unloaded one: until TIME). It ends the present bodies;
 * but an unload yields to bodies that were present until then. Bodies that began later limit it;
 * and earlier bodies do, too, if its own begin was not seen.
 */
static void settle(Naive *naive, NaiveBody *incoming, BodySource source, uint64_t time)
{
        bool is_unload = source == BODY_SOURCE_UNLOAD;
        guint i;

        incoming->since = source == BODY_SOURCE_LOAD ? time : 0;
        incoming->until = is_unload ? time : BODY_FOREVER;
        for (i = 0; i < naive->bodies->len;
             i++) { /* the array grows if an ended body was sighted later */
                NaiveBody *other = BODY(naive, i);

                if (other == incoming || !overlap(other, incoming))
                        continue;
                if (!is_unload && naive_is_alive(other, time))
                        finish(naive, other, time, BODY_END_REPLACED);
                if (other->since > time || (is_unload && other->until >= time))
                        incoming->until = MIN(incoming->until, other->since);
                if (source != BODY_SOURCE_LOAD && other->until <= time)
                        incoming->since = MAX(incoming->since, other->until);
        }
        incoming->end = is_unload                         ? BODY_END_UNLOAD
                        : incoming->until == BODY_FOREVER ? BODY_END_NONE
                                                          : BODY_END_REPLACED;
}

/* After the exit, a rundown lists bodies that existed at the exit. */
static bool is_in_last_rundown(const Naive *naive)
{
        return naive->exit <= naive->rundown_begin;
}

static unsigned newest_module(const Naive *naive, uint64_t id)
{
        guint i;

        for (i = naive->modules->len; i > 0; i--)
                if (g_array_index(naive->modules, NaiveModule, i - 1).id == id)
                        return i;
        return 0;
}

static unsigned living_module(Naive *naive, uint64_t id, uint64_t time)
{
        NaiveModule module = {.id = id, .is_living = true, .loaded = time};
        unsigned newest = newest_module(naive, id);

        if (!id || (newest && g_array_index(naive->modules, NaiveModule, newest - 1).is_living))
                return newest;
        g_array_append_val(naive->modules, module);
        return naive->modules->len;
}

unsigned naive_module(Naive *naive, uint64_t id, uint64_t time)
{
        unsigned newest = is_in_last_rundown(naive) ? newest_module(naive, id) : 0;

        return newest ? newest : living_module(naive, id, time);
}

static void insert(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time)
{
        NaiveBody body = *incoming;

        settle(naive, &body, body.source, time);
        if (body.source == BODY_SOURCE_UNLOAD && body.since >= body.until)
                return;
        body.seen = time;
        body.module = naive_module(naive, module, time);
        g_ptr_array_add(naive->bodies, g_memdup2(&body, sizeof(body)));
}

/* Adds late knowledge of a body: its extent, limited by its neighbours; its module. */
static void complete(Naive *naive, NaiveBody *body, const NaiveBody *incoming, uint64_t module,
                     uint64_t time)
{
        if (!body->size && incoming->size) {
                const NaiveBody before = *body;

                body->size = incoming->size;
                settle(naive, body, BODY_SOURCE_RUNDOWN, time);
                body->since = MAX(body->since, before.since);
                if (before.until <= body->until) {
                        body->until = before.until;
                        body->end = before.end;
                }
                body->is_jitted = incoming->is_jitted;
                body->source = incoming->source == BODY_SOURCE_LOAD ? BODY_SOURCE_RUNDOWN
                                                                    : incoming->source;
        }
        if (!body->module)
                body->module = naive_module(naive, module, time);
}

/* BODY, or a new body, was sighted. */
static void mention(Naive *naive, NaiveBody *body, const NaiveBody *incoming, uint64_t module,
                    uint64_t time)
{
        if (!body) {
                insert(naive, incoming, module, time);
                return;
        }
        sight(body, time);
        complete(naive, body, incoming, module, time);
}

/* The only body that follows the last inserted one at its address, if both are the same. */
static NaiveBody *next_of_last(Naive *naive)
{
        const NaiveBody *last = BODY(naive, naive->bodies->len - 1);
        NaiveBody *next = NULL;
        guint i;

        if (naive_is_living(last))
                return NULL;
        for (i = 0; i < naive->bodies->len - 1; i++) {
                NaiveBody *other = BODY(naive, i);

                if (!overlap(other, last) || other->since <= last->since ||
                    other->since > last->until)
                        continue;
                if (next)
                        return NULL;
                next = other;
        }
        return next && same(next, last) && next->size == last->size ? next : NULL;
}

/* Forgives a row just before the load: the compilation was in progress. */
static void excuse(Naive *naive, const NaiveBody *incoming, uint64_t time)
{
        guint i;

        for (i = 0; i < naive->unannounced->len; i++) {
                const NaiveUnannounced *unannounced =
                        &g_array_index(naive->unannounced, NaiveUnannounced, i);

                if (unannounced->start != incoming->start || unannounced->id != incoming->id ||
                    time > unannounced->time + SECOND)
                        continue;
                g_array_remove_index(naive->unannounced, i);
                if (!naive->unannounced->len)
                        naive->inference[0] = (Span){0};
                return;
        }
}

/*
 * Another load of a present or future body: two threads report one body, or two sessions record it.
 * The body's life begins with its first event.
 */
void naive_load(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time)
{
        NaiveBody *body = known(naive, incoming, time);

        if (body)
                excuse(naive, incoming, time);
        if (!body) {
                insert(naive, incoming, module, time);
                body = next_of_last(naive);
                if (!body)
                        return;
                g_ptr_array_remove_index(naive->bodies, naive->bodies->len - 1);
        }
        if (body->since > time || next_sight(body, 0) > time) {
                body->since = time;
                body->source = BODY_SOURCE_LOAD;
        }
        mention(naive, body, incoming, module, time);
}

const NaiveBody *naive_last_before(const Naive *naive, uint64_t address, uint64_t time)
{
        const NaiveBody *last = NULL;
        guint i;

        for (i = 0; i < naive->bodies->len; i++) {
                const NaiveBody *body = BODY(naive, i);

                if (naive_covers(body, address) && body->since < body->until &&
                    body->until <= time && (!last || body->until > last->until))
                        last = body;
        }
        return last;
}

/*
 * A rundown also lists bodies that were unloaded since its begin; after the exit, all unloaded
 * bodies.
 */
static bool is_stale(const Naive *naive, const NaiveBody *incoming, uint64_t time)
{
        const NaiveBody *before = naive_last_before(naive, incoming->start, time);
        const bool is_last = is_in_last_rundown(naive);

        if (incoming->source != BODY_SOURCE_RUNDOWN || !naive->rundown_begin || !before ||
            !same(before, incoming))
                return false;
        return before->end == BODY_END_UNLOAD ? is_last || before->until >= naive->rundown_begin
                                              : is_last && before->end == BODY_END_MODULE;
}

/* A rundown row, or the entry point of precompiled code. */
void naive_sighting(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time)
{
        NaiveBody *body = known(naive, incoming, time);

        if (body || !is_stale(naive, incoming, time))
                mention(naive, body, incoming, module, time);
}

/* A rundown row. */
void naive_row(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time)
{
        const NaiveUnannounced unannounced = {incoming->start, time, incoming->id};

        if (incoming->is_jitted && naive->rundown_begin && naive->rundown_begin <= time &&
            !known(naive, incoming, time) && !is_stale(naive, incoming, time))
                g_array_append_val(naive->unannounced, unannounced);
        naive_sighting(naive, incoming, module, time);
}

void naive_unload(Naive *naive, const NaiveBody *incoming, uint64_t module, uint64_t time)
{
        NaiveBody *body = known(naive, incoming, time);
        const NaiveBody *before = naive_last_before(naive, incoming->start, time);

        if (body) {
                complete(naive, body, incoming, module, time);
                finish(naive, body, time, BODY_END_UNLOAD);
        } else if (!before || !same(before, incoming) || before->name != incoming->name ||
                   before->end == BODY_END_RUNDOWN) {
                insert(naive, incoming, module, time);
        }
}

/* Ends the bodies that began by TIME. A younger module stays, and so do its bodies. */
void naive_module_end(Naive *naive, unsigned number, uint64_t time)
{
        NaiveModule *module = &g_array_index(naive->modules, NaiveModule, number - 1);
        uint64_t id = module->id;
        guint i;

        for (i = 0; i < naive->bodies->len; i++)
                if (naive_is_living(BODY(naive, i)) && BODY(naive, i)->module == number &&
                    BODY(naive, i)->since <= time)
                        finish(naive, BODY(naive, i), time, BODY_END_MODULE);
        if (module->loaded > time || !module->is_living)
                return;
        module->is_living = false;
        for (i = 0; i < naive->bodies->len; i++)
                if (naive_is_living(BODY(naive, i)) && BODY(naive, i)->module == number)
                        BODY(naive, i)->module = living_module(naive, id, time);
}

void naive_module_load(Naive *naive, uint64_t id, unsigned path, uint64_t time)
{
        unsigned number = living_module(naive, id, time);
        NaiveModule *module = &g_array_index(naive->modules, NaiveModule, number - 1);

        if (module->has_load && time > module->loaded && module->path != path) {
                naive_module_end(naive, number, time);
                number = living_module(naive, id, time);
                module = &g_array_index(naive->modules, NaiveModule, number - 1);
        }
        if (!module->has_load)
                module->loaded = time;
        module->has_load = true;
        if (!module->path)
                module->path = path;
}

/* Conclusions of the last rundown stay. */
void naive_rundown_begin(Naive *naive, uint64_t time)
{
        unsigned i;

        for (i = 0; i < 2; i++) {
                if (naive->inference[i].begin)
                        g_array_append_val(naive->inferred, naive->inference[i]);
                naive->inference[i] = (Span){0};
        }
        g_array_set_size(naive->unannounced, 0);
        naive->rundown_begin = time;
}

/* The last time before TIME at which everything was known; 0: never. */
static uint64_t whole_before(const Naive *naive, uint64_t time)
{
        uint64_t whole = naive->is_from_start && naive->begin < time ? naive->begin : 0;
        guint i;

        for (i = 0; i < naive->rundowns->len; i++)
                if (g_array_index(naive->rundowns, Span, i).end < time)
                        whole = MAX(whole, g_array_index(naive->rundowns, Span, i).end);
        return whole;
}

/* Returns the time from which events must be missing; 0: none are. */
static uint64_t naive_end_missing(World *w, Naive *naive, uint64_t time)
{
        uint64_t missing = 0;
        guint i;

        for (i = 0; i < naive->bodies->len; i++) {
                NaiveBody *body = BODY(naive, i);
                uint64_t seen = last_sight(body);

                if (!naive_is_living(body) || !body->is_jitted || seen >= time)
                        continue;
                if (!naive_lost(w, naive, seen, time))
                        missing = missing ? MIN(missing, seen) : seen;
                finish(naive, body, time, BODY_END_RUNDOWN);
        }
        return missing;
}

void naive_rundown_end(World *w, Naive *naive, uint64_t time)
{
        Span rundown = {naive->rundown_begin, time, 0}, inference[2] = {{0}};
        guint i;

        if (time < rundown.begin)
                return;
        if (!rundown.begin || naive_lost(w, naive, rundown.begin, rundown.end)) {
                naive_rundown_begin(naive, 0);
                if (rundown.begin && naive->open_gap && naive->open_gap <= time)
                        naive->deferred = rundown;
                return;
        }
        naive->rundown_begin = 0;
        inference[0].begin = naive->unannounced->len ? whole_before(naive, rundown.begin) : 0;
        inference[1].begin = naive_end_missing(w, naive, rundown.begin);
        if (inference[0].begin && naive_lost(w, naive, inference[0].begin, rundown.begin))
                inference[0].begin = 0;
        for (i = 0; i < 2; i++)
                naive->inference[i] = (Span){inference[i].begin, rundown.begin - 1, 0};
        g_array_append_val(naive->rundowns, rundown);
}

/* A reported process gap explains conclusions about the same time: drops them. */
static void explain(Naive *naive, uint64_t begin, uint64_t end)
{
        const Span span = {begin, end, 0};
        bool is_explained = false;
        guint i;

        g_array_append_val(naive->reported, span);
        for (i = naive->inferred->len; i-- > 0;)
                if (touches(&g_array_index(naive->inferred, Span, i), begin, end))
                        g_array_remove_index(naive->inferred, i);
        for (i = 0; i < 2; i++)
                is_explained |=
                        naive->inference[i].begin && touches(&naive->inference[i], begin, end);
        if (is_explained)
                naive->inference[0] = naive->inference[1] = (Span){0};
}

static void forget_rundowns(Naive *naive, uint64_t begin, uint64_t end, bool is_to_wait)
{
        guint i;

        for (i = naive->rundowns->len; i-- > 0;) {
                const Span rundown = g_array_index(naive->rundowns, Span, i);

                if (!touches(&rundown, begin, end))
                        continue;
                if (is_to_wait && rundown.begin > naive->deferred.begin)
                        naive->deferred = rundown;
                g_array_remove_index(naive->rundowns, i);
        }
}

static void tell_one(World *w, Naive *naive, uint64_t begin, uint64_t end)
{
        Span deferred;

        if (end == BODY_FOREVER) {
                naive->open_gap = naive->open_gap ? MIN(naive->open_gap, begin) : begin;
                forget_rundowns(naive, begin, BODY_FOREVER, true);
                return;
        }
        if (begin < end) {
                explain(naive, begin, end - 1);
                forget_rundowns(naive, begin, end - 1, false);
        }
        if (!naive->open_gap || naive->open_gap > end)
                return;
        if (naive->open_gap < end)
                explain(naive, naive->open_gap, end - 1);
        naive->open_gap = 0;
        deferred = naive->deferred;
        naive->deferred = (Span){0};
        if (deferred.begin < end || naive_lost(w, naive, deferred.begin, deferred.end))
                return;
        naive_end_missing(w, naive, deferred.begin);
        g_array_append_val(naive->rundowns, deferred);
}

/* A holder's session begins at TIME, the first one of a process that has given events before. */
static void tell_session(Naive *naive, uint64_t time)
{
        if (!naive->reported->len && time > naive->begin + SECOND &&
            (naive->exit == BODY_FOREVER || time <= naive->exit + SECOND) &&
            !whole_before(naive, time))
                explain(naive, naive->begin, time - 1);
}

/* The end of its pid: the begin of the next process with it. */
static uint64_t successor_begin(const World *w, const Naive *naive)
{
        guint i;

        for (i = 0; i < w->lives->len; i++) {
                const Naive *other = w->lives->pdata[i];

                if (other->key.pid == naive->key.pid && other->key.pid_ns == naive->key.pid_ns &&
                    other->generation == naive->generation + 1)
                        return other->begin;
        }
        return BODY_FOREVER;
}

void naive_report_gap(World *w, ProcessKey key, uint64_t begin, uint64_t end)
{
        guint i;

        for (i = 0; i < w->lives->len; i++) {
                Naive *naive = w->lives->pdata[i];
                bool is_there;

                if (naive->key.pid != key.pid || naive->key.pid_ns != key.pid_ns)
                        continue;
                is_there = begin < successor_begin(w, naive) &&
                           (end > naive->begin || naive->generation == 1);
                if (end == BODY_FOREVER ? naive == naive_life_at(w, key, begin)
                                        : is_there || begin == end ||
                                                  (naive->open_gap && naive->open_gap <= end))
                        tell_one(w, naive, begin, end);
                if (begin == end && end < successor_begin(w, naive))
                        tell_session(naive, end);
        }
}

/* No room for the event: bodies that overlap the new one end nevertheless. */
void naive_refuse(Naive *naive, EventKind kind, const NaiveBody *incoming, uint64_t time)
{
        guint i;

        naive->refused_since = MIN(naive->refused_since, time);
        if (kind != EVENT_KIND_METHOD_LOAD && kind != EVENT_KIND_METHOD_RUNDOWN &&
            kind != EVENT_KIND_R2R_ENTRY)
                return;
        if (known(naive, incoming, time))
                return;
        for (i = 0; i < naive->bodies->len; i++)
                if (naive_is_living(BODY(naive, i)) && naive_is_alive(BODY(naive, i), time) &&
                    overlap(BODY(naive, i), incoming))
                        finish(naive, BODY(naive, i), time, BODY_END_REPLACED);
}
