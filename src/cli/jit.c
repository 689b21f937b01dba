/* SPDX-License-Identifier: MIT */

/*
 * clrsym jit
 *
 * Counts compilations in the list of bodies. The daemon counts attempts to inline and tail calls,
 * if it receives these events; with --trace it does.
 */

#include "cli/body-rows.h"
#include "cli/body-table.h"
#include "cli/json-field.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verbs.h"

#include <stdlib.h>
#include <string.h>

#define N_LONGEST 10

/* Compilations by tier, in total and over time. */

/* The number of equal intervals from the first load to the last. */
#define JIT_N_STEPS 10

typedef struct JitSum {
        uint64_t n_bodies;
        uint64_t n_live;
        uint64_t n_bytes; /* code size of the live bodies */
        uint64_t jit_us;  /* total time of the JIT */
        uint64_t max_us;
        uint64_t n_loads[JIT_N_STEPS]; /* loads that were seen, by interval */
} JitSum;

typedef struct JitTier {
        const char *name; /* the list owns it */
        JitSum sum;
} JitTier;

typedef struct JitTiers {
        GArray *tiers; /* owned: JitTier, most bodies first */
        /* The first and the last load; END < BEGIN: no load was seen. */
        uint64_t begin, end;
        uint64_t step_jit_us[JIT_N_STEPS];
} JitTiers;

static JitTier *tier_of(JitTiers *tiers, const char *name)
{
        JitTier tier = {.name = name};
        guint i;

        for (i = 0; i < tiers->tiers->len; i++)
                if (!strcmp(g_array_index(tiers->tiers, JitTier, i).name, name))
                        return &g_array_index(tiers->tiers, JitTier, i);
        g_array_append_val(tiers->tiers, tier);
        return &g_array_index(tiers->tiers, JitTier, i);
}

static unsigned step_of(const JitTiers *tiers, uint64_t time)
{
        uint64_t length = tiers->end - tiers->begin + 1;

        return (unsigned)((__uint128_t)(time - tiers->begin) * JIT_N_STEPS / length);
}

/* The time at which STEP begins; for JIT_N_STEPS, at which the last one ends. */
static uint64_t jit_tiers_step(const JitTiers *tiers, unsigned step)
{
        uint64_t length = tiers->end - tiers->begin + 1;

        /* The earliest time that step_of() maps to STEP. */
        return tiers->begin +
               (uint64_t)(((__uint128_t)length * step + JIT_N_STEPS - 1) / JIT_N_STEPS);
}

static void jit_tiers_add(JitTiers *tiers, const BodyRow *row)
{
        JitSum *sum = &tier_of(tiers, row->tier)->sum;
        unsigned step;

        sum->n_bodies++;
        if (row->unloaded == CLRSYM_ALIVE) {
                sum->n_live++;
                sum->n_bytes += row->size;
        }
        sum->jit_us += row->jit_us;
        sum->max_us = MAX(sum->max_us, row->jit_us);
        if (row->loaded == CLRSYM_NO_TIME)
                return;
        step = step_of(tiers, row->loaded);
        sum->n_loads[step]++;
        tiers->step_jit_us[step] += row->jit_us;
}

static int compare_tiers(const void *a, const void *b)
{
        const JitTier *first = a, *second = b;

        if (first->sum.n_bodies != second->sum.n_bodies)
                return first->sum.n_bodies < second->sum.n_bodies ? 1 : -1;
        return strcmp(first->name, second->name);
}

static void jit_tiers_init(JitTiers *tiers, const BodyRows *list)
{
        guint i;

        *tiers = (JitTiers){.tiers = g_array_new(FALSE, FALSE, sizeof(JitTier)),
                            .begin = UINT64_MAX};
        for (i = 0; i < list->rows->len; i++) {
                const BodyRow *row = body_rows_get(list, i);

                if (row->loaded == CLRSYM_NO_TIME)
                        continue;
                tiers->begin = MIN(tiers->begin, row->loaded);
                tiers->end = MAX(tiers->end, row->loaded);
        }
        for (i = 0; i < list->rows->len; i++)
                jit_tiers_add(tiers, body_rows_get(list, i));
        g_array_sort(tiers->tiers, compare_tiers);
}

static void jit_tiers_deinit(JitTiers *tiers)
{
        g_array_unref(tiers->tiers);
}

static int compare_jit_times(const void *a, const void *b)
{
        const BodyRow *first = a, *second = b;

        if (first->jit_us != second->jit_us)
                return first->jit_us < second->jit_us ? 1 : -1;
        return first->number < second->number ? -1 : first->number > second->number;
}

/* Keeps only the longest compilations in the list. */
static void keep_longest(BodyRows *list)
{
        guint n = 0;

        g_array_sort(list->rows, compare_jit_times);
        while (n < MIN(list->rows->len, N_LONGEST) && body_rows_get(list, n)->jit_us)
                n++;
        g_array_set_size(list->rows, n);
}

static void add_ms(Table *table, uint64_t us)
{
        table_add_format(table, "%" G_GUINT64_FORMAT ".%03u", (guint64)(us / 1000),
                         (unsigned)(us % 1000));
}

static void add_count(Table *table, uint64_t n)
{
        table_add_format(table, "%" G_GUINT64_FORMAT, (guint64)n);
}

static void print_tiers(const JitTiers *tiers)
{
        static const Column COLUMNS[] = {
                {"TIER", false, 0, 0}, {"BODIES", true, 0, 0}, {"LIVE", true, 2, 0},
                {"BYTES", true, 3, 0}, {"MAX-MS", true, 1, 0}, {"JIT-MS", true, 0, 0},
        };
        g_autoptr(Table) table = table_new(COLUMNS, G_N_ELEMENTS(COLUMNS));
        guint i;

        for (i = 0; i < tiers->tiers->len; i++) {
                const JitTier *tier = &g_array_index(tiers->tiers, JitTier, i);

                table_add(table, tier->name);
                add_count(table, tier->sum.n_bodies);
                add_count(table, tier->sum.n_live);
                add_count(table, tier->sum.n_bytes);
                add_ms(table, tier->sum.max_us);
                add_ms(table, tier->sum.jit_us);
        }
        table_print(table);
}

/* Explains zeros: without this note the JIT seems to have taken no time. */
static void print_unrecorded(const JitTiers *tiers)
{
        static const char KEYWORD[] = "(0x10) of Microsoft-Windows-DotNETRuntime at level";
        uint64_t jit_us = 0, n_bodies = 0;
        guint i;

        for (i = 0; i < tiers->tiers->len; i++) {
                const JitTier *tier = &g_array_index(tiers->tiers, JitTier, i);

                jit_us += tier->sum.jit_us;
                /* Precompiled code has no time of compilation. */
                if (strcmp(tier->name, clrsym_tier_name(CLRSYM_TIER_READY_TO_RUN)))
                        n_bodies += tier->sum.n_bodies;
        }
        if (!n_bodies)
                output_print("\nNo compilation was recorded: that needs the keyword JIT\n%s 4\n",
                             KEYWORD);
        else if (!jit_us)
                output_print("\nJIT times were not recorded: they need the keyword JIT\n%s 5\n",
                             KEYWORD);
}

/* Sets SHOWN to the tiers with loads that were seen. */
static guint loaded_tiers(const JitTiers *tiers, const JitTier **shown)
{
        guint n = 0, i;
        unsigned step;

        for (i = 0; i < tiers->tiers->len; i++) {
                const JitTier *tier = &g_array_index(tiers->tiers, JitTier, i);

                for (step = 0; step < JIT_N_STEPS && !tier->sum.n_loads[step]; step++)
                        ;
                if (step < JIT_N_STEPS)
                        shown[n++] = tier;
        }
        return n;
}

/* The number of bodies of each tier that were loaded in each step. */
static void print_steps(const JitTiers *tiers)
{
        g_autofree const JitTier **shown = g_new(const JitTier *, tiers->tiers->len);
        guint n = loaded_tiers(tiers, shown), i;
        g_autofree Column *columns = g_new0(Column, n + 2);
        g_autoptr(Table) table = NULL;
        unsigned step;

        columns[0] = (Column){.heading = "LOADED FROM", .is_right = true};
        /* The table leaves out the rarest tiers first. */
        for (i = 0; i < n; i++)
                columns[i + 1] =
                        (Column){.heading = shown[i]->name, .is_right = true, .rank = i + 1};
        columns[n + 1] = (Column){.heading = "JIT-MS", .is_right = true};
        table = table_new(columns, n + 2);
        for (step = 0; step < JIT_N_STEPS; step++) {
                table_add_time(table, true, jit_tiers_step(tiers, step));
                for (i = 0; i < n; i++)
                        add_count(table, shown[i]->sum.n_loads[step]);
                add_ms(table, tiers->step_jit_us[step]);
        }
        table_print(table);
}

/* The JIT's attempts: members of a process's statistics. */
static const struct {
        const char *title, *succeeded, *failed;
} ATTEMPTS[] = {
        {"Inlining", "inlining_succeeded", "inlining_failed"},
        {"Tail calls", "tail_calls_succeeded", "tail_calls_failed"},
};

/* A reason, with its count over all processes. */
typedef struct Reason {
        const char *text; /* borrowed */
        uint64_t count;
} Reason;

static void add_reasons(GArray *reasons, const json_t *failed)
{
        size_t i;
        guint j;

        for (i = 0; i < json_array_size(failed); i++) {
                const json_t *entry = json_array_get(failed, i);
                Reason reason = {field_text(entry, "reason"), field_number(entry, "count")};

                for (j = 0; j < reasons->len; j++)
                        if (!g_strcmp0(g_array_index(reasons, Reason, j).text, reason.text))
                                break;
                if (j < reasons->len)
                        g_array_index(reasons, Reason, j).count += reason.count;
                else
                        g_array_append_val(reasons, reason);
        }
}

static int compare_reasons(const void *a, const void *b)
{
        const Reason *first = a, *second = b;

        if (first->count != second->count)
                return first->count < second->count ? 1 : -1;
        return g_strcmp0(first->text, second->text);
}

static void print_attempt(const json_t *processes, size_t attempt)
{
        static const Column COLUMNS[] = {{"FAILED", true, 0, 0}, {"REASON", false, 0, 0}};
        g_autoptr(GArray) reasons = g_array_new(FALSE, FALSE, sizeof(Reason));
        g_autoptr(Table) table = table_new(COLUMNS, G_N_ELEMENTS(COLUMNS));
        uint64_t n_succeeded = 0, n_failed = 0;
        size_t i;

        for (i = 0; i < json_array_size(processes); i++) {
                const json_t *process = json_array_get(processes, i);

                n_succeeded += field_number(process, ATTEMPTS[attempt].succeeded);
                add_reasons(reasons, json_object_get(process, ATTEMPTS[attempt].failed));
        }
        g_array_sort(reasons, compare_reasons);
        for (i = 0; i < reasons->len; i++) {
                const Reason *reason = &g_array_index(reasons, Reason, i);

                n_failed += reason->count;
                add_count(table, reason->count);
                table_add(table, reason->text ? reason->text : "other reasons");
        }
        output_print("\n%s: %" G_GUINT64_FORMAT " succeeded, %" G_GUINT64_FORMAT " failed\n",
                     ATTEMPTS[attempt].title, (guint64)n_succeeded, (guint64)n_failed);
        if (n_failed)
                table_print(table);
}

static bool has_attempts(const json_t *processes)
{
        size_t i;

        for (i = 0; i < json_array_size(processes); i++)
                if (json_is_integer(
                            json_object_get(json_array_get(processes, i), ATTEMPTS[0].succeeded)))
                        return true;
        return false;
}

static double number_of(const json_t *object, const char *name)
{
        return json_number_value(json_object_get(object, name));
}

static void print_lookups(const json_t *processes)
{
        uint64_t n = 0, n_found = 0;
        double ms = 0;
        size_t i;

        for (i = 0; i < json_array_size(processes); i++) {
                const json_t *lookups =
                        field_object(json_array_get(processes, i), "precompiled_lookups");

                n += field_number(lookups, "count");
                n_found += field_number(lookups, "found");
                ms += number_of(lookups, "ms");
        }
        if (n)
                output_print("\nPrecompiled code: looked up %" G_GUINT64_FORMAT
                             " times, found %" G_GUINT64_FORMAT " times, %.3f ms\n",
                             (guint64)n, (guint64)n_found, ms);
}

static void print_background(const json_t *processes)
{
        uint64_t n_runs = 0, n_methods = 0, n_pauses = 0, n_new = 0, n_pending = 0;
        double ms = 0, pause_ms = 0;
        size_t i;

        for (i = 0; i < json_array_size(processes); i++) {
                const json_t *background =
                        field_object(json_array_get(processes, i), "background_jit");

                n_runs += field_number(background, "runs");
                n_methods += field_number(background, "methods");
                n_pauses += field_number(background, "pauses");
                ms += number_of(background, "ms");
                pause_ms += number_of(background, "pause_ms");
                n_new += field_number(background, "new_methods");
                n_pending = MAX(n_pending, field_number(background, "most_pending"));
        }
        if (!n_runs && !n_pauses)
                return;
        output_print("\nBackground: %" G_GUINT64_FORMAT " runs, %" G_GUINT64_FORMAT
                     " methods, %.3f ms; postponed %" G_GUINT64_FORMAT " times\n",
                     (guint64)n_runs, (guint64)n_methods, ms, (guint64)n_pauses);
        output_print("Postponed: %.3f ms, with %" G_GUINT64_FORMAT
                     " new methods; most methods that waited: %" G_GUINT64_FORMAT "\n",
                     pause_ms, (guint64)n_new, (guint64)n_pending);
}

static void jit_print_text(const JitTiers *tiers, BodyRows *list, const json_t *processes)
{
        size_t i;

        print_tiers(tiers);
        print_unrecorded(tiers);
        if (tiers->begin <= tiers->end) {
                output_print("\n");
                print_steps(tiers);
        }
        keep_longest(list);
        output_print("\n");
        body_table_print(list, BODY_COLUMN_BIT(BODY_JIT_MS));
        if (!has_attempts(processes)) {
                output_print("\nInlining, tail calls, background: no such events were read (a "
                             "trace must have them; clrsym feed and import send them with "
                             "--jit-events)\n");
                return;
        }
        for (i = 0; i < G_N_ELEMENTS(ATTEMPTS); i++)
                print_attempt(processes, i);
        print_lookups(processes);
        print_background(processes);
}

static json_t *ms_to_json(uint64_t us)
{
        return json_real((double)us / 1000);
}

static json_t *time_to_json(bool is_known, uint64_t time)
{
        return is_known ? json_sprintf("%" G_GUINT64_FORMAT ".%09" G_GUINT64_FORMAT,
                                       (guint64)(time / 1000000000), (guint64)(time % 1000000000))
                        : json_null();
}

static json_t *tiers_to_json(const JitTiers *tiers)
{
        json_t *array = json_array();
        guint i;

        for (i = 0; i < tiers->tiers->len; i++) {
                const JitTier *tier = &g_array_index(tiers->tiers, JitTier, i);

                json_array_append_new(array, json_pack("{s:s, s:I, s:I, s:I, s:o, s:o}", "tier",
                                                       tier->name, "bodies",
                                                       (json_int_t)tier->sum.n_bodies, "live",
                                                       (json_int_t)tier->sum.n_live, "live_bytes",
                                                       (json_int_t)tier->sum.n_bytes, "jit_ms",
                                                       ms_to_json(tier->sum.jit_us), "max_jit_ms",
                                                       ms_to_json(tier->sum.max_us)));
        }
        return array;
}

static json_t *steps_to_json(const JitTiers *tiers)
{
        json_t *array = json_array();
        unsigned step;
        guint i;

        for (step = 0; tiers->begin <= tiers->end && step < JIT_N_STEPS; step++) {
                json_t *loads = json_object();

                for (i = 0; i < tiers->tiers->len; i++) {
                        const JitTier *tier = &g_array_index(tiers->tiers, JitTier, i);

                        json_object_set_new(loads, tier->name,
                                            json_integer((json_int_t)tier->sum.n_loads[step]));
                }
                json_array_append_new(
                        array,
                        json_pack("{s:o, s:o, s:o, s:o}", "begin",
                                  time_to_json(true, jit_tiers_step(tiers, step)), "end",
                                  time_to_json(true, jit_tiers_step(tiers, step + 1)), "loads",
                                  loads, "jit_ms", ms_to_json(tiers->step_jit_us[step])));
        }
        return array;
}

static json_t *longest_to_json(BodyRows *list)
{
        json_t *array = json_array();
        guint i;

        keep_longest(list);
        for (i = 0; i < list->rows->len; i++) {
                const BodyRow *row = body_rows_get(list, i);

                json_array_append_new(
                        array,
                        json_pack("{s:i, s:I, s:s, s:o, s:i, s:s, s:o, s:o, s:o}", "pid",
                                  (int)row->pid, "pid_ns", (json_int_t)row->pid_ns, "symbol",
                                  row->symbol, "start",
                                  json_sprintf("0x%" G_GINT64_MODIFIER "x", (guint64)row->start),
                                  "size", (int)row->size, "tier", row->tier, "jit_ms",
                                  ms_to_json(row->jit_us), "loaded",
                                  time_to_json(row->loaded != CLRSYM_NO_TIME, row->loaded),
                                  "unloaded",
                                  time_to_json(row->unloaded != CLRSYM_ALIVE, row->unloaded)));
        }
        return array;
}

static void jit_print_json(const JitTiers *tiers, BodyRows *list, json_t *processes)
{
        json_auto_t *all = json_pack("{s:o, s:o, s:o, s:O}", "tiers", tiers_to_json(tiers), "steps",
                                     steps_to_json(tiers), "longest", longest_to_json(list),
                                     "processes", processes);

        output_json(all);
}

bool verb_jit(const Options *options, GError **error)
{
        g_autoptr(AnswerSource) source =
                answer_source_open(options, ANSWER_SOURCE_JIT_EVENTS, error);
        g_autoptr(BodyRows) list = body_rows_new(false);
        json_auto_t *statistics = NULL;
        json_t *parameters, *processes;
        JitTiers tiers;
        bool is_good;

        if (!source)
                return false;
        parameters = answer_source_parameters(options);
        json_object_set_new(parameters, "all", json_true());
        if (!body_rows_read(list, source, "ListMethods", parameters, "methods",
                            /* is_wanted= */ NULL, /* data= */ NULL, error) ||
            !(statistics = answer_source_call(source, "JitStatistics", options, error)))
                return false;
        processes = json_object_get(statistics, "processes");
        jit_tiers_init(&tiers, list);
        is_good = json_is_array(processes);
        if (!is_good)
                g_set_error(error, ANSWER_SOURCE_ERROR, 0, "the reply has no \"processes\"");
        else if (options_has(options, OPTION_JSON))
                jit_print_json(&tiers, list, processes);
        else
                jit_print_text(&tiers, list, processes);
        jit_tiers_deinit(&tiers);
        return is_good;
}
