/* SPDX-License-Identifier: MIT */
#include "profile/html-samples.h"

#include "profile/markup.h"
#include "profile/profile-marker.h"
#include "profile/summary.h"
#include "util/json-text.h"

#include <stdlib.h>

#define MAX_BUCKETS 1024u

/* Samples of one thread in one stack and one bucket. */
typedef struct Cell {
        uint32_t thread, bucket, stack;
        uint64_t count;
} Cell;

/* A stack, and the thread's own stack: their nodes. */
typedef struct HtmlStack {
        uint32_t node, physical;
        uint32_t number; /* during sorting: in the order of the samples */
} HtmlStack;

typedef struct HtmlSamples {
        const Profile *profile;
        uint32_t *place_of; /* owned: for each thread of the profile, its place among the sorted
                             * ones */
        uint32_t *sorted;   /* owned: the threads by process */
        GArray *stacks;     /* owned: of HtmlStack, in order */
        uint32_t *stack_of; /* owned: for each sample, the number of its stack */
        uint64_t first, duration; /* ns */
        uint32_t n_threads, n_buckets;
} HtmlSamples;

static const Thread *samples_thread(const HtmlSamples *samples, uint32_t place)
{
        return &g_array_index(samples->profile->threads, Thread, samples->sorted[place]);
}

static int thread_compare(gconstpointer a, gconstpointer b, gpointer data)
{
        const Profile *profile = data;
        const Thread *x = &g_array_index(profile->threads, Thread, *(const uint32_t *)a);
        const Thread *y = &g_array_index(profile->threads, Thread, *(const uint32_t *)b);

        if (x->pid != y->pid)
                return x->pid < y->pid ? -1 : 1;
        return (x->tid > y->tid) - (x->tid < y->tid);
}

static void samples_sort_threads(HtmlSamples *samples)
{
        const uint32_t n = samples->profile->threads->len;
        uint32_t i;

        samples->sorted = g_new(uint32_t, n + 1);
        samples->place_of = g_new0(uint32_t, n + 1);
        for (i = 0; i < n; i++)
                samples->sorted[i] = i;
        g_qsort_with_data(samples->sorted, (gint)n, sizeof(uint32_t), thread_compare,
                          (gpointer)samples->profile);
        /* Calls are compared across all processes. */
        samples->n_threads = samples->profile->has_before ? MIN(n, 1) : n;
        for (i = 0; i < n; i++)
                samples->place_of[samples->sorted[i]] = MIN(i, samples->n_threads - 1);
}

static int numbers_compare(uint32_t a, uint32_t b)
{
        return (a > b) - (a < b);
}

static int stack_compare(gconstpointer a, gconstpointer b)
{
        const HtmlStack *x = a, *y = b;
        const int r = numbers_compare(x->node, y->node);

        return r ? r : numbers_compare(x->physical, y->physical);
}

static void samples_number_stacks(HtmlSamples *samples)
{
        const GArray *rows = samples->profile->samples;
        g_autofree uint32_t *places = NULL;
        PairIndex index;
        guint i;

        samples->stacks = g_array_new(FALSE, FALSE, sizeof(HtmlStack));
        samples->stack_of = g_new(uint32_t, rows->len + 1);
        pair_index_init(&index);
        for (i = 0; i < rows->len; i++) {
                const Sample *sample = &g_array_index(rows, Sample, i);
                const HtmlStack stack = {sample->node, sample->physical, samples->stacks->len};

                samples->stack_of[i] =
                        pair_index_number(&index, stack.node, stack.physical, stack.number + 1) - 1;
                if (samples->stack_of[i] == stack.number)
                        g_array_append_val(samples->stacks, stack);
        }
        pair_index_deinit(&index);
        g_array_sort(samples->stacks, stack_compare);
        places = g_new(uint32_t, samples->stacks->len + 1);
        for (i = 0; i < samples->stacks->len; i++)
                places[g_array_index(samples->stacks, HtmlStack, i).number] = i;
        for (i = 0; i < rows->len; i++)
                samples->stack_of[i] = places[samples->stack_of[i]];
}

static int cell_compare_by_stack(const void *a, const void *b)
{
        const Cell *x = a, *y = b;
        int r = numbers_compare(x->thread, y->thread);

        r = r ? r : numbers_compare(x->stack, y->stack);
        return r ? r : numbers_compare(x->bucket, y->bucket);
}

static int cell_compare_by_bucket(const void *a, const void *b)
{
        const Cell *x = a, *y = b;
        int r = numbers_compare(x->thread, y->thread);

        r = r ? r : numbers_compare(x->bucket, y->bucket);
        return r ? r : numbers_compare(x->stack, y->stack);
}

static void cells_sort(GArray *cells, int (*compare)(const void *, const void *))
{
        if (cells->len)
                qsort(cells->data, cells->len, sizeof(Cell), compare);
}

/* Adds up neighbours of the same thread, stack and bucket. */
static void cells_merge(GArray *cells)
{
        Cell *rows = (Cell *)(gpointer)cells->data;
        guint i, n = 0;

        for (i = 0; i < cells->len; i++) {
                if (n && cell_compare_by_stack(&rows[n - 1], &rows[i]) == 0)
                        rows[n - 1].count += rows[i].count;
                else
                        rows[n++] = rows[i];
        }
        g_array_set_size(cells, n);
}

/* Makes buckets larger until there are few enough cells. The cells stay sorted by stack. */
static void samples_limit(HtmlSamples *samples, GArray *cells)
{
        guint i;

        while (cells->len > HTML_MAX_CELLS && samples->n_buckets > 1) {
                samples->n_buckets /= 2;
                for (i = 0; i < cells->len; i++)
                        g_array_index(cells, Cell, i).bucket /= 2;
                cells_merge(cells);
        }
}

static uint32_t samples_bucket(const HtmlSamples *samples, uint64_t time)
{
        const double part = (double)(time - samples->first) / ((double)samples->duration + 1);

        return MIN((uint32_t)(part * samples->n_buckets), samples->n_buckets - 1);
}

/* Sorted by bucket. Makes the buckets larger if there are too many cells. */
static GArray *cells_new(HtmlSamples *samples, bool is_before)
{
        const GArray *rows = samples->profile->samples;
        GArray *cells = g_array_new(FALSE, FALSE, sizeof(Cell));
        guint i;

        for (i = 0; i < rows->len; i++) {
                const Sample *sample = &g_array_index(rows, Sample, i);
                const Cell cell = {
                        .thread = samples->place_of[sample->thread],
                        .bucket = is_before ? 0 : samples_bucket(samples, sample->time),
                        .stack = samples->stack_of[i],
                        .count = sample->count,
                };

                if (sample->is_before == is_before)
                        g_array_append_val(cells, cell);
        }
        cells_sort(cells, cell_compare_by_stack);
        cells_merge(cells);
        samples_limit(samples, cells);
        cells_sort(cells, cell_compare_by_bucket);
        return cells;
}

static void append_cells(ProfileFile *out, const HtmlSamples *samples, const GArray *cells,
                         const char *name)
{
        uint32_t thread;
        guint i = 0;

        g_string_append_printf(out->text, ",\n\"%s\":[", name);
        for (thread = 0; thread < samples->n_threads; thread++) {
                const char *separator = "";
                uint32_t bucket = 0, stack = 0;

                g_string_append(out->text, thread ? ",\n[" : "\n[");
                for (; i < cells->len; i++) {
                        const Cell *cell = &g_array_index(cells, Cell, i);

                        if (cell->thread != thread)
                                break;
                        if (cell->bucket != bucket)
                                stack = 0;
                        g_string_append(out->text, separator);
                        separator = ",";
                        json_append_u64(out->text, cell->bucket - bucket);
                        g_string_append_c(out->text, ',');
                        json_append_u64(out->text, cell->stack - stack);
                        g_string_append_c(out->text, ',');
                        json_append_u64(out->text, cell->count);
                        bucket = cell->bucket;
                        stack = cell->stack;
                        profile_file_flush(out);
                }
                g_string_append_c(out->text, ']');
        }
        g_string_append_c(out->text, ']');
}

static void append_stacks(ProfileFile *out, const HtmlSamples *samples)
{
        bool has_physical = false;
        uint32_t before = 0;
        guint i;

        g_string_append(out->text, ",\n\"stacks\":[");
        for (i = 0; i < samples->stacks->len; i++) {
                const HtmlStack *stack = &g_array_index(samples->stacks, HtmlStack, i);

                if (i)
                        g_string_append_c(out->text, ',');
                json_append_u64(out->text, stack->node - before);
                before = stack->node;
                has_physical = has_physical || stack->physical != stack->node;
                profile_file_flush(out);
        }
        g_string_append(out->text, "],\n\"physical\":[");
        for (i = 0; has_physical && i < samples->stacks->len; i++) {
                const HtmlStack *stack = &g_array_index(samples->stacks, HtmlStack, i);

                if (i)
                        g_string_append_c(out->text, ',');
                json_append_u64(out->text, stack->physical == stack->node ? 0 : stack->physical);
                profile_file_flush(out);
        }
        g_string_append_c(out->text, ']');
}

/* The command line; if it is not known, the name of the first thread. */
static const char *samples_process_title(const HtmlSamples *samples, const Thread *thread)
{
        const char *command =
                g_hash_table_lookup(samples->profile->commands, GINT_TO_POINTER(thread->pid));

        return command ? command
                       : g_array_index(samples->profile->frames, Frame, thread->comm).name;
}

static void append_processes(GString *out, const HtmlSamples *samples)
{
        uint32_t i;
        int32_t pid = 0;

        g_string_append(out, ",\n\"processes\":[");
        for (i = 0; i < samples->n_threads; i++) {
                const Thread *thread = samples_thread(samples, i);

                if (i && thread->pid == pid)
                        continue;
                g_string_append_printf(out, "%s[%d,", i ? ",\n" : "", (int)thread->pid);
                script_append_string(out, samples_process_title(samples, thread));
                g_string_append_c(out, ']');
                pid = thread->pid;
        }
        g_string_append_c(out, ']');
}

static void append_threads(ProfileFile *out, const HtmlSamples *samples)
{
        uint32_t i, process = 0;

        g_string_append(out->text, ",\n\"threads\":[");
        for (i = 0; i < samples->n_threads; i++) {
                const Thread *thread = samples_thread(samples, i);

                process += i && samples_thread(samples, i - 1)->pid != thread->pid;
                g_string_append_printf(out->text, "%s[%u,%d,%u]", i ? "," : "", process,
                                       (int)thread->tid, thread->comm);
                profile_file_flush(out);
        }
        g_string_append_c(out->text, ']');
}

/* The number of a process, or -1. */
static int samples_process(const HtmlSamples *samples, int32_t pid)
{
        int process = 0;
        uint32_t i;

        for (i = 0; i < samples->n_threads; i++) {
                process +=
                        i && samples_thread(samples, i - 1)->pid != samples_thread(samples, i)->pid;
                if (samples_thread(samples, i)->pid == pid)
                        return process;
        }
        return -1;
}

static int marker_compare_length(gconstpointer a, gconstpointer b)
{
        const ProfileMarker *x = *(const ProfileMarker *const *)a;
        const ProfileMarker *y = *(const ProfileMarker *const *)b;
        const uint64_t x_length = x->end - x->begin, y_length = y->end - y->begin;

        return (x_length < y_length) - (x_length > y_length);
}

/* Pauses come after the collections, so that they are drawn on top. */
static int marker_compare_begin(gconstpointer a, gconstpointer b)
{
        const ProfileMarker *x = *(const ProfileMarker *const *)a;
        const ProfileMarker *y = *(const ProfileMarker *const *)b;

        if (x->kind != y->kind)
                return x->kind < y->kind ? -1 : 1;
        return (x->begin > y->begin) - (x->begin < y->begin);
}

static void append_marker(GString *out, const HtmlSamples *samples, const ProfileMarker *marker)
{
        const uint64_t end = samples->first + samples->duration;
        const uint64_t from = CLAMP(marker->begin, samples->first, end);
        const uint64_t to = CLAMP(marker->end, from, end);

        g_string_append_printf(out, "[%d,%d,%" G_GUINT64_FORMAT ",%" G_GUINT64_FORMAT ",",
                               marker->kind == PROFILE_MARKER_PAUSE,
                               samples_process(samples, marker->pid),
                               (guint64)(from - samples->first), (guint64)(to - from));
        script_append_string(out, marker->text);
        g_string_append_c(out, ']');
}

static void append_markers(ProfileFile *out, const HtmlSamples *samples, const GArray *markers)
{
        g_autoptr(GPtrArray) shown = g_ptr_array_new();
        guint i;

        for (i = 0; markers && samples->n_buckets > 1 && i < markers->len; i++) {
                ProfileMarker *marker = &g_array_index(markers, ProfileMarker, i);

                if (marker->kind != PROFILE_MARKER_COMPILATION && marker->end >= samples->first &&
                    marker->begin <= samples->first + samples->duration)
                        g_ptr_array_add(shown, marker);
        }
        g_ptr_array_sort(shown, marker_compare_length);
        g_ptr_array_set_size(shown, (gint)MIN(shown->len, HTML_MAX_MARKERS));
        g_ptr_array_sort(shown, marker_compare_begin);
        g_string_append(out->text, ",\n\"markers\":[");
        for (i = 0; i < shown->len; i++) {
                if (i)
                        g_string_append_c(out->text, ',');
                append_marker(out->text, samples, shown->pdata[i]);
                profile_file_flush(out);
        }
        g_string_append_c(out->text, ']');
}

void html_samples_append(ProfileFile *out, const Profile *profile, const GArray *markers)
{
        HtmlSamples samples = {.profile = profile, .n_buckets = 1};
        g_autoptr(GArray) cells = NULL;
        Summary summary;

        summary_init(&summary, profile);
        samples.first = summary.first;
        samples.duration = summary.duration;
        if (samples.duration && !profile->has_before)
                samples.n_buckets = MAX_BUCKETS;
        samples_sort_threads(&samples);
        samples_number_stacks(&samples);
        cells = cells_new(&samples, false);
        append_processes(out->text, &samples);
        append_threads(out, &samples);
        g_string_append_printf(out->text, ",\n\"time\":[%" G_GUINT64_FORMAT ",%u]",
                               (guint64)samples.duration, samples.n_buckets);
        append_markers(out, &samples, markers);
        append_stacks(out, &samples);
        append_cells(out, &samples, cells, "cells");
        if (profile->has_before) {
                g_autoptr(GArray) before = cells_new(&samples, true);

                append_cells(out, &samples, before, "before");
        }
        g_free(samples.place_of);
        g_free(samples.sorted);
        g_array_unref(samples.stacks);
        g_free(samples.stack_of);
}
