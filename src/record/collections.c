/* SPDX-License-Identifier: MIT */
#include "record/collections.h"

#include "record/target-logs.h"

#include <glib.h>

/* Pauses of a process do not overlap, and at most two of its collections do. This many are compared
 * before one that began too early. */
#define MAX_OVERLAPPING 4

/* Sorted by begin. */
typedef struct CollectingProcess {
        GArray *collections, *pauses; /* owned: of CollectionLogEntry */
        unsigned n_open;              /* entries of both that go on */
        bool has_collected;           /* also if that is forgotten */
} CollectingProcess;

struct Collections {
        GHashTable *processes; /* int32_t pid -> owned CollectingProcess */
        TargetLogs *logs;      /* owned */
        uint64_t n_bytes;      /* of the entries of all processes */
        CollectionTotals past; /* of those that are forgotten, and of all that were late */
        uint64_t asked;        /* see collections_forget() */
};

/* Reasons of GCStart: GC.Collect(), or a lack of memory that the program has reported. */
static bool reason_is_induced(uint32_t reason)
{
        enum {
                INDUCED = 1,
                INDUCED_NOT_FORCED = 7,
                INDUCED_COMPACTING = 10,
                INDUCED_AGGRESSIVE = 17
        };

        return reason == INDUCED || reason == INDUCED_NOT_FORCED || reason == INDUCED_COMPACTING ||
               reason == INDUCED_AGGRESSIVE;
}

static void collecting_process_free(void *data)
{
        CollectingProcess *process = data;

        g_array_unref(process->collections);
        g_array_unref(process->pauses);
        g_free(process);
}

static CollectingProcess *collections_process(Collections *collections, int32_t pid)
{
        CollectingProcess *process =
                g_hash_table_lookup(collections->processes, GINT_TO_POINTER(pid));

        if (!process) {
                process = g_new0(CollectingProcess, 1);
                process->collections = g_array_new(FALSE, FALSE, sizeof(CollectionLogEntry));
                process->pauses = g_array_new(FALSE, FALSE, sizeof(CollectionLogEntry));
                g_hash_table_insert(collections->processes, GINT_TO_POINTER(pid), process);
        }
        return process;
}

/* The number of the entry that goes on and began at BEGIN; the length of ENTRIES: none. */
static guint entries_find_open(const GArray *entries, uint64_t begin)
{
        guint i;

        for (i = entries->len; i > 0; i--) {
                const CollectionLogEntry *entry =
                        &g_array_index(entries, CollectionLogEntry, i - 1);

                if (entry->end == COLLECTION_LOG_OPEN && entry->begin == begin)
                        return i - 1;
        }
        return entries->len;
}

/* True if the end of OLDER, which goes on, did not come. */
static bool entry_ends(const CollectionLogEntry *entry, const CollectionLogEntry *older)
{
        return older->end == COLLECTION_LOG_OPEN && older->begin < entry->begin &&
               collection_log_excludes(entry, older);
}

/* Removes number I of ENTRIES, which went on. */
static void collections_remove_open(Collections *collections, CollectingProcess *process,
                                    GArray *entries, guint i)
{
        g_array_remove_index(entries, i);
        collections->n_bytes -= sizeof(CollectionLogEntry);
        process->n_open--;
}

static bool collections_take(const void *bytes, void *data)
{
        const CollectionLogEntry *entry = bytes;
        Collections *collections = data;
        CollectingProcess *process = collections_process(collections, entry->pid);
        const bool is_pause = entry->kind == COLLECTION_LOG_PAUSE;
        GArray *entries = is_pause ? process->pauses : process->collections;
        const guint open =
                process->n_open ? entries_find_open(entries, entry->begin) : entries->len;
        const bool was_open = open < entries->len;
        guint i;

        if (was_open)
                collections_remove_open(collections, process, entries, open);
        for (i = entries->len; i > 0 && process->n_open; i--)
                if (entry_ends(entry, &g_array_index(entries, CollectionLogEntry, i - 1)))
                        collections_remove_open(collections, process, entries, i - 1);
        /* The end of one that went on may be missing. */
        if (entry->end <= entry->begin)
                return true;
        collections->past.n_late += !is_pause && !was_open && entry->begin < collections->asked;
        if (collections->n_bytes + sizeof(*entry) > COLLECTIONS_MAX_BYTES)
                return false;
        g_array_append_val(entries, *entry);
        collections->n_bytes += sizeof(*entry);
        process->n_open += entry->end == COLLECTION_LOG_OPEN;
        process->has_collected |= !is_pause && entry->end != COLLECTION_LOG_OPEN;
        return true;
}

static gint collection_compare(gconstpointer a, gconstpointer b)
{
        const CollectionLogEntry *left = a, *right = b;

        return (left->begin > right->begin) - (left->begin < right->begin);
}

void collections_update(Collections *collections)
{
        GHashTableIter iter;
        gpointer value;

        target_logs_read(collections->logs, collections_take, collections);
        g_hash_table_iter_init(&iter, collections->processes);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const CollectingProcess *process = value;

                g_array_sort(process->collections, collection_compare);
                g_array_sort(process->pauses, collection_compare);
        }
}

Collections *collections_new(const char *directory)
{
        Collections *collections = g_new0(Collections, 1);

        collections->processes = g_hash_table_new_full(NULL, NULL, NULL, collecting_process_free);
        collections->logs = target_logs_new(directory, sizeof(CollectionLogEntry));
        collections_update(collections);
        return collections;
}

void collections_free(Collections *collections)
{
        if (!collections)
                return;
        g_hash_table_unref(collections->processes);
        target_logs_free(collections->logs);
        g_free(collections);
}

/* The number of ENTRIES that begin at TIME or before. */
static guint entries_count_begun(const GArray *entries, uint64_t time)
{
        guint low = 0, high = entries->len;

        while (low < high) {
                const guint middle = low + (high - low) / 2;

                if (g_array_index(entries, CollectionLogEntry, middle).begin <= time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* The innermost entry of the thread TID, or of any thread (0), at TIME. */
static const CollectionLogEntry *entries_find(const GArray *entries, int32_t tid, uint64_t time)
{
        guint n = entries_count_begun(entries, time), i;

        for (i = 0; i < MIN(n, MAX_OVERLAPPING); i++) {
                const CollectionLogEntry *entry =
                        &g_array_index(entries, CollectionLogEntry, n - 1 - i);

                if (time < collection_known_end(entry) && (!tid || entry->tid == tid))
                        return entry;
        }
        return NULL;
}

/* The collection of a pause: the first that begins within it; else the one that it interrupts. */
static const CollectionLogEntry *process_find_paused(const CollectingProcess *process,
                                                     const CollectionLogEntry *pause)
{
        const GArray *collections = process->collections;
        const guint n = entries_count_begun(collections, pause->begin);

        if (n < collections->len &&
            g_array_index(collections, CollectionLogEntry, n).begin < collection_known_end(pause))
                return &g_array_index(collections, CollectionLogEntry, n);
        return entries_find(collections, 0, pause->begin);
}

const CollectionLogEntry *collections_find(const Collections *collections, int32_t pid, int32_t tid,
                                           uint64_t time)
{
        const CollectingProcess *process =
                g_hash_table_lookup(collections->processes, GINT_TO_POINTER(pid));
        const CollectionLogEntry *pause;

        if (!process)
                return NULL;
        if (!tid)
                return entries_find(process->collections, 0, time);
        pause = entries_find(process->pauses, tid, time);
        return pause ? process_find_paused(process, pause) : NULL;
}

static void totals_add(CollectionTotals *totals, const CollectionLogEntry *entry)
{
        const uint64_t length = entry->end - entry->begin;

        if (entry->end == COLLECTION_LOG_OPEN)
                return;
        if (entry->kind == COLLECTION_LOG_PAUSE) {
                totals->paused += length;
                totals->longest = MAX(totals->longest, length);
                return;
        }
        totals->n[MIN(entry->generation, COLLECTIONS_GENERATIONS - 1)]++;
        totals->n_background += entry->type == COLLECTION_BACKGROUND;
        totals->n_induced += reason_is_induced(entry->reason);
}

static void totals_add_all(CollectionTotals *totals, const GArray *entries)
{
        guint i;

        for (i = 0; i < entries->len; i++)
                totals_add(totals, &g_array_index(entries, CollectionLogEntry, i));
}

static void totals_add_process(CollectionTotals *totals, const CollectingProcess *process)
{
        totals->n_processes += process->has_collected;
        totals_add_all(totals, process->collections);
        totals_add_all(totals, process->pauses);
}

void collections_sum(const Collections *collections, CollectionTotals *ret_totals)
{
        GHashTableIter iter;
        gpointer process;

        *ret_totals = collections->past;
        g_hash_table_iter_init(&iter, collections->processes);
        while (g_hash_table_iter_next(&iter, NULL, &process))
                totals_add_process(ret_totals, process);
}

static void collections_forget_entries(Collections *collections, CollectingProcess *process,
                                       GArray *entries, uint64_t time)
{
        guint n = 0, i;

        for (i = 0; i < entries->len; i++) {
                const CollectionLogEntry *entry = &g_array_index(entries, CollectionLogEntry, i);

                if (collection_known_end(entry) <= time) {
                        totals_add(&collections->past, entry);
                        process->n_open -= entry->end == COLLECTION_LOG_OPEN;
                } else {
                        g_array_index(entries, CollectionLogEntry, n++) = *entry;
                }
        }
        collections->n_bytes -= (uint64_t)(entries->len - n) * sizeof(CollectionLogEntry);
        g_array_set_size(entries, n);
}

static void collections_end_process(int32_t pid, void *data)
{
        Collections *collections = data;
        const CollectingProcess *process =
                g_hash_table_lookup(collections->processes, GINT_TO_POINTER(pid));

        if (!process)
                return;
        totals_add_process(&collections->past, process);
        collections->n_bytes -= (uint64_t)(process->collections->len + process->pauses->len) *
                                sizeof(CollectionLogEntry);
        g_hash_table_remove(collections->processes, GINT_TO_POINTER(pid));
}

void collections_forget(Collections *collections, uint64_t time, uint64_t asked)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, collections->processes);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                CollectingProcess *process = value;

                collections_forget_entries(collections, process, process->collections, time);
                collections_forget_entries(collections, process, process->pauses, time);
        }
        collections->asked = asked;
        target_logs_forget(collections->logs, collections_end_process, collections);
}

void collections_each(const Collections *collections,
                      void (*fn)(const CollectionLogEntry *entry, void *data), void *data)
{
        GHashTableIter iter;
        gpointer value;
        guint i;

        g_hash_table_iter_init(&iter, collections->processes);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const CollectingProcess *process = value;

                for (i = 0; i < process->collections->len; i++)
                        fn(&g_array_index(process->collections, CollectionLogEntry, i), data);
                for (i = 0; i < process->pauses->len; i++)
                        fn(&g_array_index(process->pauses, CollectionLogEntry, i), data);
        }
}
