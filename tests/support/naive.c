/* SPDX-License-Identifier: MIT */
#include "support/naive.h"

#include "support/world.h"

const ProcessKey KEYS[N_KEYS] = {{0, 100}, {0, 101}, {7, 100}};
const unsigned STREAM_TRACE[N_STREAMS] = {0, 0, 1};

uint64_t naive_extent(const NaiveBody *body)
{
        return MAX(body->size, 1);
}

bool naive_covers(const NaiveBody *body, uint64_t address)
{
        return address >= body->start && address - body->start < naive_extent(body);
}

static bool overlap(const NaiveBody *a, const NaiveBody *b)
{
        return a->start < b->start + naive_extent(b) && b->start < a->start + naive_extent(a);
}

/* A body is alive in [since, until). */
bool naive_is_alive(const NaiveBody *body, uint64_t time)
{
        return body->since <= time && time < body->until;
}

bool naive_is_living(const NaiveBody *body)
{
        return body->until == BODY_FOREVER;
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
 * Its life ends. Who was seen later on was there again from then on, as another body; who was seen
 * only then (and an unload is a sighting) was not there before.
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
        naive->told = g_array_new(FALSE, FALSE, sizeof(Span));
        naive->lapses = g_array_new(FALSE, FALSE, sizeof(Span));
        naive->strangers = g_array_new(FALSE, FALSE, sizeof(NaiveStranger));
        g_ptr_array_add(w->lives, naive);
        return naive;
}

void naive_free(gpointer data)
{
        Naive *naive = data;

        g_ptr_array_unref(naive->bodies);
        g_array_unref(naive->modules);
        g_array_unref(naive->rundowns);
        g_array_unref(naive->told);
        g_array_unref(naive->lapses);
        g_array_unref(naive->strangers);
        g_free(naive);
}

/* The last life that has the key, or NULL. */
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

/* The life that had the key at a time; before all, the first. */
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
        if (is_in(naive->told, begin, end) || is_in(naive->lapses, begin, end) ||
            (naive->silent && naive->silent <= end))
                return true;
        for (i = 0; i < 2; i++) {
                const Span *doubt = &naive->doubt[i];

                if (doubt->begin && doubt->begin <= end && begin <= doubt->end)
                        return true;
        }
        return naive->refused_since <= end;
}

/* The time up to which every stream of its traces is in, but for traces that are over. */
uint64_t naive_horizon(const World *w, const Naive *naive)
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
        return least == UINT64_MAX ? most_ended : least;
}

/* --- What events do to it ------------------------------------------------------------------ */

/* The body that an event is about: it was there at that time. */
static NaiveBody *known(Naive *naive, const NaiveBody *news, uint64_t time)
{
        guint i;

        for (i = 0; i < naive->bodies->len; i++)
                if (naive_is_alive(BODY(naive, i), time) && same(BODY(naive, i), news))
                        return BODY(naive, i);
        return NULL;
}

/*
 * Gives NEWS, alive at TIME (an unloaded one: until TIME), its room in time. It ends who is there
 * at that time; but an unload yields to who was there until then. Who came later limits it, and if
 * its own beginning was not seen, who was there before does.
 */
static void settle(Naive *naive, NaiveBody *news, BodySource source, uint64_t time)
{
        bool is_unload = source == BODY_SOURCE_UNLOAD;
        guint i;

        news->since = source == BODY_SOURCE_LOAD ? time : 0;
        news->until = is_unload ? time : BODY_FOREVER;
        for (i = 0; i < naive->bodies->len; i++) { /* which grows if who ends was seen later */
                NaiveBody *other = BODY(naive, i);

                if (other == news || !overlap(other, news))
                        continue;
                if (!is_unload && naive_is_alive(other, time))
                        finish(naive, other, time, BODY_END_EVICTED);
                if (other->since > time || (is_unload && other->until >= time))
                        news->until = MIN(news->until, other->since);
                if (source != BODY_SOURCE_LOAD && other->until <= time)
                        news->since = MAX(news->since, other->until);
        }
        news->end = is_unload                     ? BODY_END_UNLOAD
                    : news->until == BODY_FOREVER ? BODY_END_NONE
                                                  : BODY_END_EVICTED;
}

unsigned naive_living_module(Naive *naive, uint64_t id, uint64_t time)
{
        NaiveModule module = {.id = id, .is_living = true, .loaded = time};
        guint i;

        if (!id)
                return 0;
        for (i = 0; i < naive->modules->len; i++)
                if (g_array_index(naive->modules, NaiveModule, i).id == id &&
                    g_array_index(naive->modules, NaiveModule, i).is_living)
                        return i + 1;
        g_array_append_val(naive->modules, module);
        return naive->modules->len;
}

static void insert(Naive *naive, const NaiveBody *news, uint64_t module, uint64_t time)
{
        NaiveBody body = *news;

        settle(naive, &body, body.source, time);
        if (body.source == BODY_SOURCE_UNLOAD && body.since >= body.until)
                return;
        body.seen = time;
        body.module = naive_living_module(naive, module, time);
        g_ptr_array_add(naive->bodies, g_memdup2(&body, sizeof(body)));
}

/* What is known of a body only now: its extent, for the time that it had room; its module. */
static void complete(Naive *naive, NaiveBody *body, const NaiveBody *news, uint64_t module,
                     uint64_t time)
{
        if (!body->size && news->size) {
                const NaiveBody before = *body;

                body->size = news->size;
                settle(naive, body, BODY_SOURCE_RUNDOWN, time);
                body->since = MAX(body->since, before.since);
                if (before.until <= body->until) {
                        body->until = before.until;
                        body->end = before.end;
                }
                body->is_jitted = news->is_jitted;
                body->source =
                        news->source == BODY_SOURCE_LOAD ? BODY_SOURCE_RUNDOWN : news->source;
        }
        if (!body->module)
                body->module = naive_living_module(naive, module, time);
}

/* BODY, or nobody, is known to be what was seen. */
static void mention(Naive *naive, NaiveBody *body, const NaiveBody *news, uint64_t module,
                    uint64_t time)
{
        if (!body) {
                insert(naive, news, module, time);
                return;
        }
        sight(body, time);
        complete(naive, body, news, module, time);
}

/* Who comes next where the last one inserted is, and nobody else does: if it is the same. */
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

/* A load that comes a moment after a row: it was under way. */
static void excuse(Naive *naive, const NaiveBody *news, uint64_t time)
{
        guint i;

        for (i = 0; i < naive->strangers->len; i++) {
                const NaiveStranger *stranger = &g_array_index(naive->strangers, NaiveStranger, i);

                if (stranger->start != news->start || stranger->id != news->id ||
                    time > stranger->time + SECOND)
                        continue;
                g_array_remove_index(naive->strangers, i);
                if (!naive->strangers->len)
                        naive->doubt[0] = (Span){0};
                return;
        }
}

/*
 * One load more of who is there, or of who comes next (two threads tell of one body, or two
 * sessions). The first thing that is known of it is its beginning.
 */
void naive_load(Naive *naive, const NaiveBody *news, uint64_t module, uint64_t time)
{
        NaiveBody *body = known(naive, news, time);

        if (body)
                excuse(naive, news, time);
        if (!body) {
                insert(naive, news, module, time);
                body = next_of_last(naive);
                if (!body)
                        return;
                g_ptr_array_remove_index(naive->bodies, naive->bodies->len - 1);
        }
        if (body->since > time || next_sight(body, 0) > time) {
                body->since = time;
                body->source = BODY_SOURCE_LOAD;
        }
        mention(naive, body, news, module, time);
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

/* A rundown lists also what was unloaded since it began. */
static bool is_stale(const Naive *naive, const NaiveBody *news, uint64_t time)
{
        const NaiveBody *before = naive_last_before(naive, news->start, time);

        return news->source == BODY_SOURCE_RUNDOWN && naive->rundown_begin && before &&
               same(before, news) && before->end == BODY_END_UNLOAD &&
               before->until >= naive->rundown_begin;
}

/* A rundown row, or the entry point of precompiled code. */
void naive_sighting(Naive *naive, const NaiveBody *news, uint64_t module, uint64_t time)
{
        NaiveBody *body = known(naive, news, time);

        if (body || !is_stale(naive, news, time))
                mention(naive, body, news, module, time);
}

/* A rundown row. */
void naive_row(Naive *naive, const NaiveBody *news, uint64_t module, uint64_t time)
{
        const NaiveStranger stranger = {news->start, time, news->id};

        if (news->is_jitted && naive->rundown_begin && naive->rundown_begin <= time &&
            !known(naive, news, time) && !is_stale(naive, news, time))
                g_array_append_val(naive->strangers, stranger);
        naive_sighting(naive, news, module, time);
}

void naive_unload(Naive *naive, const NaiveBody *news, uint64_t module, uint64_t time)
{
        NaiveBody *body = known(naive, news, time);
        const NaiveBody *before = naive_last_before(naive, news->start, time);

        if (body) {
                complete(naive, body, news, module, time);
                finish(naive, body, time, BODY_END_UNLOAD);
        } else if (!before || !same(before, news) || before->name != news->name ||
                   before->end == BODY_END_RUNDOWN) {
                insert(naive, news, module, time);
        }
}

/* Who was there by then ends. A younger module stays; bodies that are younger have one, too. */
void naive_module_end(Naive *naive, unsigned number, uint64_t time)
{
        NaiveModule *module = &g_array_index(naive->modules, NaiveModule, number - 1);
        uint64_t id = module->id;
        guint i;

        for (i = 0; i < naive->bodies->len; i++)
                if (naive_is_living(BODY(naive, i)) && BODY(naive, i)->module == number &&
                    BODY(naive, i)->since <= time)
                        finish(naive, BODY(naive, i), time, BODY_END_MODULE);
        if (module->loaded > time)
                return;
        module->is_living = false;
        for (i = 0; i < naive->bodies->len; i++)
                if (naive_is_living(BODY(naive, i)) && BODY(naive, i)->module == number)
                        BODY(naive, i)->module = naive_living_module(naive, id, time);
}

void naive_module_load(Naive *naive, uint64_t id, unsigned path, uint64_t time)
{
        unsigned number = naive_living_module(naive, id, time);
        NaiveModule *module = &g_array_index(naive->modules, NaiveModule, number - 1);

        if (module->has_load && time > module->loaded && module->path != path) {
                naive_module_end(naive, number, time);
                number = naive_living_module(naive, id, time);
                module = &g_array_index(naive->modules, NaiveModule, number - 1);
        }
        if (!module->has_load)
                module->loaded = time;
        module->has_load = true;
        if (!module->path)
                module->path = path;
}

/* What the last one proved stays. */
void naive_rundown_begin(Naive *naive, uint64_t time)
{
        unsigned i;

        for (i = 0; i < 2; i++) {
                if (naive->doubt[i].begin)
                        g_array_append_val(naive->lapses, naive->doubt[i]);
                naive->doubt[i] = (Span){0};
        }
        g_array_set_size(naive->strangers, 0);
        naive->rundown_begin = time;
}

/* When everything was known for the last time before TIME; 0: never. */
static uint64_t whole_before(const Naive *naive, uint64_t time)
{
        uint64_t whole = naive->is_from_start && naive->begin < time ? naive->begin : 0;
        guint i;

        for (i = 0; i < naive->rundowns->len; i++)
                if (g_array_index(naive->rundowns, Span, i).end < time)
                        whole = MAX(whole, g_array_index(naive->rundowns, Span, i).end);
        return whole;
}

/* Returns since when something must be missing; 0: never. */
static uint64_t finish_unlisted(World *w, Naive *naive, uint64_t time)
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
        Span rundown = {naive->rundown_begin, time, 0}, doubt[2] = {{0}};
        guint i;

        if (time < rundown.begin)
                return;
        if (!rundown.begin || naive_lost(w, naive, rundown.begin, rundown.end)) {
                naive_rundown_begin(naive, 0);
                if (rundown.begin && naive->silent && naive->silent <= time)
                        naive->waiting = rundown;
                return;
        }
        naive->rundown_begin = 0;
        doubt[0].begin = naive->strangers->len ? whole_before(naive, rundown.begin) : 0;
        doubt[1].begin = finish_unlisted(w, naive, rundown.begin);
        if (doubt[0].begin && naive_lost(w, naive, doubt[0].begin, rundown.begin))
                doubt[0].begin = 0;
        for (i = 0; i < 2; i++)
                naive->doubt[i] = (Span){doubt[i].begin, rundown.begin - 1, 0};
        g_array_append_val(naive->rundowns, rundown);
}

/* It is told to have been silent: that explains what was proven of the time. */
static void explain(Naive *naive, uint64_t begin, uint64_t end)
{
        const Span span = {begin, end, 0};
        bool is_doubtful = false;
        guint i;

        g_array_append_val(naive->told, span);
        for (i = naive->lapses->len; i-- > 0;)
                if (touches(&g_array_index(naive->lapses, Span, i), begin, end))
                        g_array_remove_index(naive->lapses, i);
        for (i = 0; i < 2; i++)
                is_doubtful |= naive->doubt[i].begin && touches(&naive->doubt[i], begin, end);
        if (is_doubtful)
                naive->doubt[0] = naive->doubt[1] = (Span){0};
}

static void forget_rundowns(Naive *naive, uint64_t begin, uint64_t end, bool is_to_wait)
{
        guint i;

        for (i = naive->rundowns->len; i-- > 0;) {
                const Span rundown = g_array_index(naive->rundowns, Span, i);

                if (!touches(&rundown, begin, end))
                        continue;
                if (is_to_wait && rundown.begin > naive->waiting.begin)
                        naive->waiting = rundown;
                g_array_remove_index(naive->rundowns, i);
        }
}

static void tell_one(World *w, Naive *naive, uint64_t begin, uint64_t end)
{
        Span waiting;

        if (end == BODY_FOREVER) {
                naive->silent = naive->silent ? MIN(naive->silent, begin) : begin;
                forget_rundowns(naive, begin, BODY_FOREVER, true);
                return;
        }
        if (begin < end) {
                explain(naive, begin, end - 1);
                forget_rundowns(naive, begin, end - 1, false);
        }
        if (!naive->silent || naive->silent > end)
                return;
        if (naive->silent < end)
                explain(naive, naive->silent, end - 1);
        naive->silent = 0;
        waiting = naive->waiting;
        naive->waiting = (Span){0};
        if (waiting.begin < end || naive_lost(w, naive, waiting.begin, waiting.end))
                return;
        finish_unlisted(w, naive, waiting.begin);
        g_array_append_val(naive->rundowns, waiting);
}

/* Until when it has its pid. */
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

void naive_tell(World *w, ProcessKey key, uint64_t begin, uint64_t end)
{
        guint i;

        for (i = 0; i < w->lives->len; i++) {
                Naive *naive = w->lives->pdata[i];
                bool is_there;

                if (naive->key.pid != key.pid || naive->key.pid_ns != key.pid_ns)
                        continue;
                is_there = begin < successor_begin(w, naive) &&
                           (end > naive->begin || naive->generation == 1);
                if (end == BODY_FOREVER
                            ? naive == naive_life_at(w, key, begin)
                            : is_there || begin == end || (naive->silent && naive->silent <= end))
                        tell_one(w, naive, begin, end);
        }
}

/* No room: who is in the way of what is new is gone all the same. */
void naive_refuse(Naive *naive, EventKind kind, const NaiveBody *news, uint64_t time)
{
        guint i;

        naive->refused_since = MIN(naive->refused_since, time);
        if (kind != EVENT_KIND_METHOD_LOAD && kind != EVENT_KIND_METHOD_RUNDOWN &&
            kind != EVENT_KIND_R2R_ENTRY)
                return;
        if (known(naive, news, time))
                return;
        for (i = 0; i < naive->bodies->len; i++)
                if (naive_is_living(BODY(naive, i)) && naive_is_alive(BODY(naive, i), time) &&
                    overlap(BODY(naive, i), news))
                        finish(naive, BODY(naive, i), time, BODY_END_EVICTED);
}
