/* SPDX-License-Identifier: MIT */
#include "core/rundown.h"

#include "core/method-flags.h"

/*
 * ns. A thread publishes code, then tells of it; a rundown can come in between, and the thread may
 * have to wait for a processor.
 */
#define LOAD_DELAY UINT64_C(1000000000)

void rundown_begin(Process *process, uint64_t time)
{
        lapses_settle(&process->lapses);
        process->rundown_begin = time;
}

void rundown_note_stranger(Process *process, const Body *body, uint64_t time)
{
        /* Precompiled code is never told of as loaded. */
        if (process->rundown_begin && time >= process->rundown_begin &&
            (body->flags & METHOD_FLAG_JITTED))
                lapses_add_stranger(&process->lapses,
                                    &(Stranger){body->start, body->method_id, time});
}

void rundown_note_load(Process *process, const Body *body, uint64_t time)
{
        const GArray *strangers = process->lapses.strangers;
        guint i;

        for (i = 0; i < strangers->len; i++) {
                const Stranger *stranger = &g_array_index(strangers, Stranger, i);

                if (stranger->start != body->start || stranger->method_id != body->method_id ||
                    time > stranger->time + LOAD_DELAY)
                        continue;
                lapses_remove_stranger(&process->lapses, i);
                return;
        }
}

/*
 * Since when everything that is compiled should have been told of: the rundown before that of
 * BEGIN, or the process's own start. BODY_FOREVER: what there was at first is not known.
 */
static uint64_t whole_since(const Process *process, uint64_t begin)
{
        uint64_t since =
                process->is_from_start && process->begin < begin ? process->begin : BODY_FOREVER;
        guint i;

        for (i = 0; i < process->rundowns->len; i++) {
                const Rundown *rundown = &g_array_index(process->rundowns, Rundown, i);

                if (rundown->end < begin && (since == BODY_FOREVER || rundown->end > since))
                        since = rundown->end;
        }
        return since;
}

/* Ends what is not in the rundown. Returns since when events must be missing, where no loss is
 * known that explains it; BODY_FOREVER: never. */
static uint64_t end_unlisted(Process *process, uint64_t begin)
{
        uint64_t lacking_since = BODY_FOREVER;
        uint32_t i;

        for (i = 0; i < codemap_n_numbers(process->map); i++) {
                Body *body = codemap_body(process->map, i);
                uint64_t seen;

                /* Precompiled code stays as long as its image: a rundown lists what was called. */
                if (!body || body->until != BODY_FOREVER || !(body->flags & METHOD_FLAG_JITTED))
                        continue;
                seen = body_last_seen(body);
                if (seen >= begin)
                        continue;
                codemap_end(process->map, body, begin, BODY_END_RUNDOWN);
                if (seen < lacking_since && !process_has_gap(process, seen, begin))
                        lacking_since = seen;
        }
        return lacking_since;
}

static bool has_strangers(const Lapses *lapses)
{
        return lapses->strangers->len || lapses->n_unlisted;
}

void rundown_end(Process *process, uint64_t time)
{
        Rundown rundown = {process->rundown_begin, time};
        Lapses *lapses = &process->lapses;
        uint64_t strangers_since = BODY_FOREVER, lacking_since;

        if (time < rundown.begin)
                return; /* of another one, that comes late: this one goes on */
        process->rundown_begin = 0;
        process_drop_il_maps(process);
        if (!rundown.begin || process_has_gap(process, rundown.begin, rundown.end)) {
                lapses_settle(lapses);
                if (rundown.begin && lapses->open <= rundown.end)
                        lapses->waiting = rundown;
                return;
        }
        if (has_strangers(lapses))
                strangers_since = whole_since(process, rundown.begin);
        if (strangers_since != BODY_FOREVER &&
            process_has_gap(process, strangers_since, rundown.begin))
                strangers_since = BODY_FOREVER;
        lacking_since = end_unlisted(process, rundown.begin);
        g_array_append_val(process->rundowns, rundown);
        if (strangers_since == BODY_FOREVER)
                lapses_settle(lapses);
        if (MIN(strangers_since, lacking_since) != BODY_FOREVER)
                lapses_prove(lapses, strangers_since, lacking_since, rundown.begin - 1);
}

/* Those that touch [BEGIN, END] go; the one that began last is to wait, if there is none later. */
static void withdraw(Process *process, uint64_t begin, uint64_t end, bool is_to_wait)
{
        GArray *rundowns = process->rundowns;
        Rundown *waiting = &process->lapses.waiting;
        guint i;

        for (i = rundowns->len; i-- > 0;) {
                Rundown rundown = g_array_index(rundowns, Rundown, i);

                if (rundown.end < begin || rundown.begin > end)
                        continue;
                g_array_remove_index(rundowns, i);
                if (is_to_wait && rundown.begin > waiting->begin)
                        *waiting = rundown;
        }
}

/* A rundown was complete while a silence was not known to be over, which was so before it began. */
static void resume_waiting(Process *process, uint64_t end)
{
        Rundown rundown = process->lapses.waiting;

        process->lapses.waiting = (Rundown){0};
        if (rundown.begin < end || process_has_gap(process, rundown.begin, rundown.end))
                return;
        end_unlisted(process, rundown.begin);
        g_array_append_val(process->rundowns, rundown);
}

void rundown_tell_silence(Process *process, uint64_t begin, uint64_t end)
{
        Lapses *lapses = &process->lapses;

        if (end == BODY_FOREVER) {
                lapses_open(lapses, begin);
                withdraw(process, begin, BODY_FOREVER, true);
                return;
        }
        if (begin < end) {
                lapses_tell(lapses, begin, end - 1);
                withdraw(process, begin, end - 1, false);
        }
        if (lapses_close(lapses, end))
                resume_waiting(process, end);
}
