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
/* In us, with parts: for the runtimes to write what their threads have buffered of chains. */
#define CHAINS_LIMIT (3 * G_TIME_SPAN_SECOND)

struct Activity {
        PerfActivity frames;
        JitIntervals *intervals;  /* owned */
        Collections *collections; /* owned */
        AsyncChains *chains;      /* owned; NULL: none were asked for */
        const JitMemory *memory;  /* borrowed; with parts: that of the part */
        clrsym *handle;           /* owned; NULL: nothing is named */
        GHashTable *names;        /* JitLogEntry (borrowed) -> owned text; "": not known */
        clrsym_style style;
        uint64_t n_early; /* samples in the JIT from before the first compilation that is known */
        const Recorder *recorder; /* borrowed */
        uint64_t begin,
                end; /* ns of CLOCK_MONOTONIC: of the part; without parts 0 and UINT64_MAX */
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

/* What a walk over entries needs. */
typedef struct ActivityWalk {
        const Activity *activity; /* borrowed */
        GArray *markers;          /* borrowed */
        GPtrArray *compilations;  /* borrowed, of borrowed JitLogEntry */
} ActivityWalk;

/* What is later is in no marker. */
static uint64_t activity_last(const Activity *activity)
{
        return activity->end == UINT64_MAX ? UINT64_MAX : activity->frames.last;
}

/* Cuts the marker at the borders of the part. False: it is in other parts only. */
static bool activity_cut(const Activity *activity, ProfileMarker *marker)
{
        marker->begin = MAX(marker->begin, activity->begin);
        marker->end = MIN(marker->end, activity_last(activity));
        return marker->begin < marker->end;
}

static void activity_mark_collection(const CollectionLogEntry *entry, void *data)
{
        const ActivityWalk *walk = data;
        const bool is_pause = entry->kind == COLLECTION_LOG_PAUSE;
        ProfileMarker marker = {
                .kind = is_pause ? PROFILE_MARKER_PAUSE : PROFILE_MARKER_COLLECTION,
                .pid = entry->pid,
                .tid = entry->tid,
                .begin = entry->begin,
                .end = entry->end == COLLECTION_LOG_OPEN
                               ? MIN(collection_known_end(entry), walk->activity->frames.last)
                               : entry->end,
        };

        if (!activity_cut(walk->activity, &marker))
                return;
        marker.text =
                is_pause ? g_strdup("the program is stopped")
                         : g_strdup_printf("generation %u%s", (unsigned)entry->generation,
                                           entry->type == COLLECTION_BACKGROUND ? ", background"
                                                                                : "");
        g_array_append_val(walk->markers, marker);
}

static void activity_keep_compilation(const JitLogEntry *entry, void *data)
{
        const ActivityWalk *walk = data;

        if (entry->end > walk->activity->begin && entry->begin < activity_last(walk->activity))
                g_ptr_array_add(walk->compilations, (gpointer)entry);
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
        ActivityWalk walk = {activity, markers, entries};
        guint i;

        collections_each(activity->collections, activity_mark_collection, &walk);
        jit_intervals_each(activity->intervals, activity_keep_compilation, &walk);
        g_ptr_array_sort(entries, compilation_compare);
        for (i = 0; activity->handle && i < MIN(entries->len, MAX_COMPILATIONS); i++) {
                const JitLogEntry *entry = entries->pdata[i];
                ProfileMarker marker = {.kind = PROFILE_MARKER_COMPILATION,
                                        .pid = entry->pid,
                                        .tid = entry->tid,
                                        .begin = entry->begin,
                                        .end = entry->end,
                                        .text = text_printable(activity_name(activity, entry))};

                activity_cut(activity, &marker);
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
        activity->recorder = recorder;
        activity->end = UINT64_MAX;
        if (jit_intervals_n_cut(activity->intervals))
                message_print("clrsym",
                              "the log of compilations was full for %u processes: some samples in "
                              "the JIT lack their method",
                              jit_intervals_n_cut(activity->intervals));
        if (clrsym_open(&activity->handle, &how, &message) < 0)
                activity->handle = NULL;
        free(message);
        return activity;
}

void activity_free(Activity *activity)
{
        if (!activity)
                return;
        clrsym_close(activity->handle);
        g_hash_table_unref(activity->names);
        jit_intervals_free(activity->intervals);
        collections_free(activity->collections);
        async_chains_free(activity->chains);
        g_free(activity);
}

void activity_update(Activity *activity)
{
        g_hash_table_remove_all(activity->names);
        jit_intervals_update(activity->intervals);
        collections_update(activity->collections);
}

void activity_begin_part(Activity *activity, const JitMemory *memory, uint64_t begin, uint64_t end)
{
        activity->memory = memory;
        if (activity->chains)
                async_chains_await(activity->chains, end, CHAINS_LIMIT);
        activity_update(activity);
        /* Samples come with a delay: the last one of the part before is the better border, unless
         * that part was lost, or had none. */
        activity->begin =
                begin == activity->end && activity->frames.last ? activity->frames.last : begin;
        activity->end = end;
        activity->frames.last = 0;
}

/* A sample of the next part can be a little older than this part's end. */
void activity_end_part(Activity *activity)
{
        activity->memory = NULL;
        g_hash_table_remove_all(activity->names);
        jit_intervals_forget(activity->intervals, activity->begin);
        collections_forget(activity->collections, activity->begin, activity->end);
        if (activity->chains)
                async_chains_forget(activity->chains, activity->begin);
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
                number_append_duration(line, recorder_duration(activity->recorder));
        }
        g_string_append(line, ", at most ");
        number_append_duration(line, totals.longest);
        g_string_append(line, " at a time\n");
        fputs(line->str, stderr);
        if (totals.n_late)
                message_print(
                        "clrsym",
                        "%" G_GUINT64_FORMAT
                        " garbage collections were reported too late: their intervals lack them",
                        (guint64)totals.n_late);
}

void activity_print(const Activity *activity)
{
        activity_print_compilations(activity);
        activity_print_collections(activity);
}
