/* SPDX-License-Identifier: MIT */

/* The naive model's answers */

#include "support/world.h"

static const NaiveBody *first_after(const Naive *naive, uint64_t address, uint64_t time)
{
        const NaiveBody *first = NULL;
        guint i;

        for (i = 0; i < naive->bodies->len; i++) {
                const NaiveBody *body = BODY(naive, i);

                if (naive_covers(body, address) && body->since < body->until &&
                    body->since > time && (!first || body->since < first->since))
                        first = body;
        }
        return first;
}

/* By the last sighting up to TIME, and the first one after it. */
static Confidence naive_confidence(const World *w, const Naive *naive, const NaiveBody *body,
                                   uint64_t time)
{
        uint64_t first = 0, last = 0;
        guint i, n = body->sighted ? body->sighted->len : 0;

        for (i = 0; i < n + 2; i++) {
                uint64_t sight = i < n ? g_array_index(body->sighted, uint64_t, i) : body->seen;

                if (i == n + 1) {
                        if (body->end != BODY_END_UNLOAD)
                                continue;
                        sight = body->until;
                }
                if (sight <= time)
                        first = MAX(first, sight);
                else if (!last || sight < last)
                        last = sight;
        }
        if (naive_lost(w, naive, first ? first : time, last ? last : time))
                return CONFIDENCE_GAP;
        if (!first)
                return CONFIDENCE_ASSUMED;
        return !last && (body->end == BODY_END_REPLACED || body->end == BODY_END_RUNDOWN)
                       ? CONFIDENCE_ASSUMED
                       : CONFIDENCE_EXACT;
}

/* An empty place is known from a start, an end, or a complete rundown. */
static Confidence nothing_confidence(const World *w, const Naive *naive, const NaiveBody *before,
                                     const NaiveBody *after, uint64_t time)
{
        uint64_t begin = naive->is_from_start ? MIN(naive->begin, time) : 0;
        uint64_t end = after ? after->since : BODY_FOREVER;
        guint i;

        if (before)
                begin = MAX(begin, before->until);
        for (i = 0; i < naive->rundowns->len; i++) {
                const Span *rundown = &g_array_index(naive->rundowns, Span, i);

                if (rundown->end <= time)
                        begin = MAX(begin, rundown->end);
                else if (rundown->begin >= time)
                        end = MIN(end, rundown->begin);
        }
        if (end == BODY_FOREVER)
                end = time;
        /* Everything before a late attachment is lost. */
        if (!naive->is_from_start && begin < naive->begin)
                return CONFIDENCE_GAP;
        return naive_lost(w, naive, begin, MAX(begin, end)) ? CONFIDENCE_GAP : CONFIDENCE_EXACT;
}

static void expect_at(const World *w, const Question *question, uint64_t whole_since, Expected *e)
{
        uint64_t time = question->time;
        bool is_open;
        const uint64_t horizon = naive_horizon(w, e->naive, &is_open);
        /* No more events come of a process that has ended, with its sessions. */
        const bool is_late = time > horizon && (is_open || e->naive->exit == BODY_FOREVER);
        const NaiveBody *before, *after;
        guint i;

        for (i = 0; i < e->naive->bodies->len; i++)
                if (naive_covers(BODY(e->naive, i), question->address) &&
                    naive_is_alive(BODY(e->naive, i), time))
                        e->body = BODY(e->naive, i);
        if (e->body && e->naive->exit != BODY_FOREVER && time > e->naive->exit + SECOND) {
                e->status = is_late ? ANSWER_PENDING : ANSWER_UNLOADED;
                e->distance = -(int64_t)(time - MAX(e->naive->exit, e->body->since));
                e->confidence = naive_lost(w, e->naive, e->naive->exit, time) ? CONFIDENCE_GAP
                                                                              : CONFIDENCE_EXACT;
        } else if (e->body) {
                e->confidence = naive_confidence(w, e->naive, e->body, time);
        } else {
                before = naive_last_before(e->naive, question->address, time);
                after = first_after(e->naive, question->address, time);
                e->confidence = nothing_confidence(w, e->naive, before, after, time);
                e->status = ANSWER_NO_METHOD;
                if (before && (!after || time - before->until <= after->since - time)) {
                        e->status = ANSWER_UNLOADED;
                        e->body = before;
                        e->distance = -(int64_t)(time - before->until);
                } else if (after) {
                        e->status = ANSWER_NOT_YET;
                        e->body = after;
                        e->distance = (int64_t)(after->since - time);
                }
                if (is_late)
                        e->status = ANSWER_PENDING;
                else if (time < whole_since)
                        e->status = ANSWER_EVICTED;
        }
        if (is_late)
                e->confidence = MAX(e->confidence, CONFIDENCE_PROVISIONAL);
        else if (time > horizon && e->naive->exit > horizon)
                e->confidence = CONFIDENCE_GAP;
}

static void expect_newest(const World *w, const Question *question, uint64_t whole_since,
                          Expected *e)
{
        const NaiveBody *only = NULL;
        guint i;

        for (i = 0; i < e->naive->bodies->len; i++) {
                if (!naive_covers(BODY(e->naive, i), question->address))
                        continue;
                only = BODY(e->naive, i);
                e->n_bodies++;
                if (naive_is_living(only))
                        e->body = only;
        }
        if (e->body) {
                e->confidence = naive_confidence(w, e->naive, e->body, BODY_FOREVER - 1);
        } else if (e->n_bodies > 1) {
                e->status = ANSWER_AMBIGUOUS;
        } else if (whole_since) {
                e->status = ANSWER_EVICTED;
                e->body = only;
        } else {
                e->confidence = nothing_confidence(w, e->naive, only, NULL, BODY_FOREVER - 1);
                e->status = only ? ANSWER_OK : ANSWER_NO_METHOD;
                e->body = only;
                if (only)
                        e->confidence = MAX(e->confidence, CONFIDENCE_ASSUMED);
        }
}

void naive_expect(const World *w, const Question *question, Expected *e)
{
        const ProcessKey key = {question->pid_ns, question->pid};
        unsigned n_found = 0, i;
        uint64_t whole_since;

        *e = (Expected){.status = ANSWER_OK};
        if (!question->has_pid_ns) {
                for (i = 0; i < N_KEYS; i++)
                        if (KEYS[i].pid == question->pid && naive_newest_life(w, KEYS[i])) {
                                e->naive = naive_newest_life(w, KEYS[i]);
                                n_found++;
                        }
                if (n_found != 1)
                        e->naive = NULL;
                if (n_found > 1)
                        e->status = ANSWER_AMBIGUOUS;
                else if (n_found == 0)
                        e->status = ANSWER_NO_PROCESS;
                if (n_found != 1)
                        return;
        } else {
                e->naive = naive_newest_life(w, key);
        }
        if (!e->naive) {
                e->status = naive_life_at(w, key, 0) ? ANSWER_EVICTED : ANSWER_NO_PROCESS;
                return;
        }
        if (question->has_time)
                e->naive = naive_life_at(w, e->naive->key, question->time);
        if (e->naive->is_dropped) {
                e->status = ANSWER_EVICTED;
                return;
        }
        whole_since = codemap_whole_since(e->naive->real->map);
        if (question->has_time)
                expect_at(w, question, whole_since, e);
        else
                expect_newest(w, question, whole_since, e);
}
