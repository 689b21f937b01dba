/* SPDX-License-Identifier: MIT */
#include "tracker/rundown.h"

#include "event/method-flags.h"

/*
 * ns. A thread publishes code, then emits its load event; in between a rundown can come, and the
 * thread may wait for a processor.
 */
#define LOAD_DELAY UINT64_C(1000000000)
/* ns. More than the time between the opening of a session and the time that its holder reports. */
#define OPENING_TIME UINT64_C(1000000000)

void rundown_begin(Process *process, uint64_t time)
{
        process_gaps_settle(&process->gaps);
        process->rundown_begin = time;
        process->rundown_has_modules = false;
        process->rundown_has_jitted = process->is_full_rundown;
        process->is_full_rundown = false;
}

void rundown_note_settings(Process *process)
{
        process->is_full_rundown = true;
}

void rundown_note_body(Process *process, const Body *body)
{
        process->rundown_has_jitted |= (body->flags & METHOD_FLAG_JITTED) != 0;
}

/*
 * While a runtime walks its code heaps it frees no code: its rundown still has the bodies unloaded
 * since its begin. An exiting runtime reports the unload of everything, and only then makes the
 * rundown of an EventPipe session: that rundown lacks all bodies that came after the unloads.
 */
Body *rundown_find_unloaded(const Process *process, const Body *incoming, uint64_t time)
{
        const uint64_t begin = process->rundown_begin;
        Body *before, *after;

        codemap_neighbours(process->map, incoming->start, time, &before, &after);
        if (!begin || !before || !body_is_same(process->names, before, incoming))
                return NULL;
        if (process_is_in_last_rundown(process))
                return before->end == BODY_END_UNLOAD || before->end == BODY_END_MODULE ? before
                                                                                        : NULL;
        return before->end == BODY_END_UNLOAD && before->until >= begin ? before : NULL;
}

void rundown_note_unannounced(Process *process, const Body *body, uint64_t time)
{
        /* Precompiled code has no load events. */
        if (process->rundown_begin && time >= process->rundown_begin &&
            (body->flags & METHOD_FLAG_JITTED))
                process_gaps_add_unannounced(
                        &process->gaps, &(UnannouncedBody){body->start, body->method_id, time});
}

void rundown_note_load(Process *process, const Body *body, uint64_t time)
{
        const GArray *all = process->gaps.unannounced;
        guint i;

        for (i = 0; i < all->len; i++) {
                const UnannouncedBody *unannounced = &g_array_index(all, UnannouncedBody, i);

                if (unannounced->start != body->start ||
                    unannounced->method_id != body->method_id ||
                    time > unannounced->time + LOAD_DELAY)
                        continue;
                process_gaps_remove_unannounced(&process->gaps, i);
                return;
        }
}

/*
 * The time since when a load should have announced every compilation: the rundown before the one of
 * BEGIN, or the process's own start. BODY_FOREVER: the first code is not known.
 */
static uint64_t rundown_whole_since(const Process *process, uint64_t begin)
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

/*
 * Ends the bodies that are missing from the rundown. Returns since when events must be missing that
 * no known gap explains; BODY_FOREVER: no events are missing.
 */
static uint64_t rundown_end_missing(Process *process, uint64_t begin)
{
        uint64_t missing_since = BODY_FOREVER;
        uint32_t i;

        for (i = 0; i < codemap_n_numbers(process->map); i++) {
                Body *body = codemap_body(process->map, i);
                uint64_t seen;

                /*
                 * Precompiled code lives as long as its image; a rundown lists only the called
                 * methods.
                 */
                if (!body || body->until != BODY_FOREVER || !(body->flags & METHOD_FLAG_JITTED))
                        continue;
                seen = body_last_seen(body);
                if (seen >= begin)
                        continue;
                codemap_end(process->map, body, begin, BODY_END_RUNDOWN);
                if (seen < missing_since && !process_has_gap(process, seen, begin))
                        missing_since = seen;
        }
        return missing_since;
}

static bool has_unannounced(const ProcessGaps *gaps)
{
        return gaps->unannounced->len || gaps->n_more_unannounced;
}

void rundown_end(Process *process, uint64_t time)
{
        Rundown rundown = {process->rundown_begin, time};
        ProcessGaps *gaps = &process->gaps;
        uint64_t unannounced_since = BODY_FOREVER, missing_since;

        if (time < rundown.begin)
                return; /* the end of an earlier rundown comes late: the present one continues */
        process->rundown_begin = 0;
        process_drop_il_maps(process);
        /* If jitted code was listed, there was some: at least a stub that calls Main. */
        if (process->rundown_has_modules && !process->rundown_has_jitted)
                return;
        if (!rundown.begin || process_has_gap(process, rundown.begin, rundown.end)) {
                process_gaps_settle(gaps);
                if (rundown.begin && gaps->open_since <= rundown.end)
                        gaps->deferred = rundown;
                return;
        }
        if (has_unannounced(gaps))
                unannounced_since = rundown_whole_since(process, rundown.begin);
        if (unannounced_since != BODY_FOREVER &&
            process_has_gap(process, unannounced_since, rundown.begin))
                unannounced_since = BODY_FOREVER;
        missing_since = rundown_end_missing(process, rundown.begin);
        process_add_rundown(process, &rundown);
        if (unannounced_since == BODY_FOREVER)
                process_gaps_settle(gaps);
        if (MIN(unannounced_since, missing_since) != BODY_FOREVER)
                process_gaps_infer(gaps, unannounced_since, missing_since, rundown.begin - 1);
}

/*
 * Rundowns that touch [BEGIN, END] no longer count. IS_DEFERRED: the last of them may count later.
 */
static void rundown_withdraw(Process *process, uint64_t begin, uint64_t end, bool is_deferred)
{
        GArray *rundowns = process->rundowns;
        Rundown *deferred = &process->gaps.deferred;
        guint i;

        for (i = rundowns->len; i-- > 0;) {
                Rundown rundown = g_array_index(rundowns, Rundown, i);

                if (rundown.end < begin || rundown.begin > end)
                        continue;
                g_array_remove_index(rundowns, i);
                if (is_deferred && rundown.begin > deferred->begin)
                        *deferred = rundown;
        }
}

/* The open gap has ended at END: the deferred rundown counts if it began after that. */
static void rundown_count_deferred(Process *process, uint64_t end)
{
        Rundown rundown = process->gaps.deferred;

        process->gaps.deferred = (Rundown){0};
        if (rundown.begin < end || process_has_gap(process, rundown.begin, rundown.end))
                return;
        rundown_end_missing(process, rundown.begin);
        process_add_rundown(process, &rundown);
}

void rundown_report_gap(Process *process, uint64_t begin, uint64_t end)
{
        ProcessGaps *gaps = &process->gaps;

        /* The rundown's begin can be lost. */
        process->is_full_rundown = false;
        if (end == BODY_FOREVER) {
                process_gaps_report_open(gaps, begin);
                rundown_withdraw(process, begin, BODY_FOREVER, true);
                return;
        }
        if (begin < end) {
                process_gaps_report(gaps, begin, end - 1);
                rundown_withdraw(process, begin, end - 1, false);
        }
        if (process_gaps_report_end(gaps, end))
                rundown_count_deferred(process, end);
}

void rundown_report_session(Process *process, uint64_t time)
{
        ProcessGaps *gaps = &process->gaps;

        if (!gaps->reported->len && time > process->begin + OPENING_TIME &&
            !process_is_over_at(process, time) &&
            rundown_whole_since(process, time) == BODY_FOREVER)
                process_gaps_report(gaps, process->begin, time - 1);
}
