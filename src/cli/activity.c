/* SPDX-License-Identifier: MIT */
#include "cli/activity.h"

#include "perf/type-handles.h"
#include "profile/profile-marker.h"
#include "profile/summary.h"
#include "record/async-chains.h"
#include "record/collections.h"
#include "record/jit-intervals.h"
#include "util/message.h"
#include "util/printable-string.h"

#include <stdio.h>
#include <stdlib.h>

/* Compilations that become markers: the longest ones. */
#define MAX_COMPILATIONS 20000u

struct Activity {
        PerfActivity frames;
        JitIntervals *intervals;  /* owned */
        Collections *collections; /* owned */
        AsyncChains *chains;      /* owned; NULL: none were asked for */
        const JitMemory *memory;  /* borrowed */
        clrsym *handle;           /* owned; NULL: nothing is named */
        GHashTable *names;        /* JitLogEntry (borrowed) -> owned text; "": not known */
        clrsym_style style;
        uint64_t n_early;  /* samples in the JIT before the first known compilation */
        uint64_t duration; /* ns */
};

/* "Namespace.Type.Method(int) (QuickJitted)"; "": no body is known for that time. */
static char *activity_ask(const Activity *activity, const JitLogEntry *entry)
{
        const ProcessKey key = jit_memory_key(activity->memory, entry->pid);
        const clrsym_query query = {.pid = key.pid,
                                    .has_pid_ns = key.pid_ns != 0,
                                    .pid_ns = key.pid_ns,
                                    .address = entry->address,
                                    .has_time = true,
                                    .time = entry->end};
        g_autofree char *symbol = NULL;
        clrsym_answer answer;
        size_t n;

        if (clrsym_resolve(activity->handle, &query, 1, 0, &answer) < 0 ||
            answer.status != CLRSYM_OK || answer.confidence == CLRSYM_GAP)
                return g_strdup("");
        n = clrsym_symbol(&answer.body, activity->style, NULL, 0) + 1;
        symbol = g_malloc(n);
        clrsym_symbol(&answer.body, activity->style, symbol, n);
        if (activity->style != CLRSYM_STYLE_CLR)
                type_handles_drop(symbol);
        return *clrsym_tier_name(answer.body.tier)
                       ? g_strdup_printf("%s (%s)", symbol, clrsym_tier_name(answer.body.tier))
                       : g_strdup(symbol);
}

/* The name of the method; "": not known. Owned by ACTIVITY. */
static const char *activity_name(Activity *activity, const JitLogEntry *entry)
{
        char *name = g_hash_table_lookup(activity->names, entry);

        if (!name) {
                name = activity_ask(activity, entry);
                g_hash_table_insert(activity->names, (gpointer)entry, name);
        }
        return name;
}

static bool activity_append_compiling(void *data, int32_t pid, int32_t tid, uint64_t time,
                                      GString *text)
{
        Activity *activity = data;
        const JitLogEntry *entry = jit_intervals_find(activity->intervals, pid, tid, time);
        const char *name;

        activity->n_early += jit_intervals_is_before(activity->intervals, pid, time);
        if (!entry || !activity->handle)
                return false;
        name = activity_name(activity, entry);
        g_string_append(text, name);
        return *name != '\0';
}

static bool activity_append_collecting(void *data, int32_t pid, int32_t tid, const char *comm,
                                       uint64_t time, GString *text)
{
        const Activity *activity = data;
        const CollectionLogEntry *entry = collections_find(
                activity->collections, pid, profile_comm_collects(comm) ? 0 : tid, time);

        if (!entry)
                return false;
        g_string_append_printf(text, "generation %u%s", (unsigned)entry->generation,
                               entry->type == COLLECTION_BACKGROUND ? ", background" : "");
        return true;
}

static void activity_mark_collection(const CollectionLogEntry *entry, void *data)
{
        const bool is_pause = entry->kind == COLLECTION_LOG_PAUSE;
        const ProfileMarker marker = {
                .kind = is_pause ? PROFILE_MARKER_PAUSE : PROFILE_MARKER_COLLECTION,
                .pid = entry->pid,
                .tid = entry->tid,
                .begin = entry->begin,
                .end = entry->end,
                .text = is_pause ? g_strdup("the program is stopped")
                                 : g_strdup_printf("generation %u%s", (unsigned)entry->generation,
                                                   entry->type == COLLECTION_BACKGROUND
                                                           ? ", background"
                                                           : ""),
        };

        g_array_append_val((GArray *)data, marker);
}

static void activity_keep_compilation(const JitLogEntry *entry, void *data)
{
        g_ptr_array_add(data, (gpointer)entry);
}

/* The longest first. */
static int compilation_compare(gconstpointer one, gconstpointer other)
{
        const JitLogEntry *a = *(const JitLogEntry *const *)one,
                          *b = *(const JitLogEntry *const *)other;
        const uint64_t x = a->end - a->begin, y = b->end - b->begin;

        return (x < y) - (x > y);
}

static void activity_mark(void *data, GArray *markers)
{
        Activity *activity = data;
        g_autoptr(GPtrArray) entries = g_ptr_array_new();
        guint i;

        collections_each(activity->collections, activity_mark_collection, markers);
        jit_intervals_each(activity->intervals, activity_keep_compilation, entries);
        g_ptr_array_sort(entries, compilation_compare);
        for (i = 0; activity->handle && i < MIN(entries->len, MAX_COMPILATIONS); i++) {
                const JitLogEntry *entry = entries->pdata[i];
                const ProfileMarker marker = {
                        .kind = PROFILE_MARKER_COMPILATION,
                        .pid = entry->pid,
                        .tid = entry->tid,
                        .begin = entry->begin,
                        .end = entry->end,
                        .text = text_printable(activity_name(activity, entry))};

                g_array_append_val(markers, marker);
        }
}

Activity *activity_new(const Recorder *recorder, clrsym_style style)
{
        const clrsym_options how = {.socket = recorder_socket(recorder)};
        Activity *activity = g_new0(Activity, 1);
        char *message = NULL;

        activity->frames = (PerfActivity){.compiling = activity_append_compiling,
                                          .collecting = activity_append_collecting,
                                          .mark = activity_mark,
                                          .data = activity};
        activity->memory = recorder_jit_memory(recorder);
        activity->intervals = jit_intervals_new(recorder_jit_logs(recorder));
        activity->collections = collections_new(recorder_collection_logs(recorder));
        activity->chains = async_chains_new(recorder_async_logs(recorder));
        activity->frames.chains = activity->chains;
        activity->names = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        activity->style = style;
        activity->duration = recorder_duration(recorder);
        if (jit_intervals_n_cut(activity->intervals))
                message_print("clrsym",
                              "%u processes compiled more methods than is logged: some samples in "
                              "the JIT lack their method",
                              jit_intervals_n_cut(activity->intervals));
        if (clrsym_open(&activity->handle, &how, &message) < 0)
                activity->handle = NULL;
        free(message);
        return activity;
}

void activity_free(Activity *activity)
{
        clrsym_close(activity->handle);
        g_hash_table_unref(activity->names);
        jit_intervals_free(activity->intervals);
        collections_free(activity->collections);
        async_chains_free(activity->chains);
        g_free(activity);
}

PerfActivity *activity_frames(Activity *activity)
{
        return &activity->frames;
}

static void activity_print_compilations(const Activity *activity)
{
        const PerfActivity *frames = &activity->frames;

        if (frames->n_samples)
                fprintf(stderr,
                        "clrsym: %" G_GUINT64_FORMAT " samples in the JIT, %" G_GUINT64_FORMAT
                        " of them with the method that it compiles\n",
                        (guint64)frames->n_samples, (guint64)frames->n_named);
        if (activity->n_early)
                message_print("clrsym",
                              "%" G_GUINT64_FORMAT
                              " samples in the JIT are from times at which their process was not "
                              "attached: the methods are not known",
                              (guint64)activity->n_early);
}

/* "12 garbage collections (10 of generation 0, 2 of generation 2; 1 in the background, 2 induced)"
 */
static void totals_append_counts(GString *line, const CollectionTotals *totals)
{
        const char *before = " (";
        uint64_t n = 0;
        unsigned i;

        for (i = 0; i < COLLECTIONS_GENERATIONS; i++)
                n += totals->n[i];
        number_append(line, n);
        g_string_append_printf(line, " garbage collection%s", n == 1 ? "" : "s");
        for (i = 0; i < COLLECTIONS_GENERATIONS; i++) {
                if (!totals->n[i])
                        continue;
                g_string_append(line, before);
                number_append(line, totals->n[i]);
                g_string_append_printf(line, " of generation %u", i);
                before = ", ";
        }
        if (totals->n_background)
                g_string_append_printf(line, "; %" G_GUINT64_FORMAT " in the background",
                                       (guint64)totals->n_background);
        if (totals->n_induced)
                g_string_append_printf(line, "; %" G_GUINT64_FORMAT " induced",
                                       (guint64)totals->n_induced);
        g_string_append_c(line, ')');
}

static void activity_print_collections(const Activity *activity)
{
        g_autoptr(GString) line = g_string_new("clrsym: ");
        CollectionTotals totals;

        collections_sum(activity->collections, &totals);
        if (!totals.n_processes)
                return;
        totals_append_counts(line, &totals);
        if (totals.n_processes > 1)
                g_string_append_printf(line, " in %u processes", totals.n_processes);
        g_string_append(line, ": paused for ");
        number_append_duration(line, totals.paused);
        if (totals.n_processes == 1) {
                g_string_append(line, " of ");
                number_append_duration(line, activity->duration);
        }
        g_string_append(line, ", at most ");
        number_append_duration(line, totals.longest);
        g_string_append(line, " at a time\n");
        fputs(line->str, stderr);
}

void activity_print(const Activity *activity)
{
        activity_print_compilations(activity);
        activity_print_collections(activity);
}
