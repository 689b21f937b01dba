/* SPDX-License-Identifier: MIT */
#include "record/collections.h"

#include <glib.h>
#include <string.h>
#include <sys/stat.h>

/* Pauses of a process do not overlap, and at most two of its collections do. This many are compared
 * before one that began too early. */
#define MAX_OVERLAPPING 4

/* Sorted by begin. */
typedef struct CollectingProcess {
        GArray *collections, *pauses; /* owned: of CollectionLogEntry */
} CollectingProcess;

struct Collections {
        GHashTable *processes; /* int32_t pid -> owned CollectingProcess */
        uint64_t n_bytes;      /* that were read */
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

static void collections_take(Collections *collections, const CollectionLogEntry *entry)
{
        CollectingProcess *process =
                g_hash_table_lookup(collections->processes, GINT_TO_POINTER(entry->pid));

        if (!process) {
                process = g_new(CollectingProcess, 1);
                process->collections = g_array_new(FALSE, FALSE, sizeof(CollectionLogEntry));
                process->pauses = g_array_new(FALSE, FALSE, sizeof(CollectionLogEntry));
                g_hash_table_insert(collections->processes, GINT_TO_POINTER(entry->pid), process);
        }
        if (entry->kind == COLLECTION_LOG_PAUSE)
                g_array_append_val(process->pauses, *entry);
        else
                g_array_append_val(process->collections, *entry);
}

static void collections_read(Collections *collections, const char *path)
{
        g_autofree char *bytes = NULL;
        CollectionLogEntry entry;
        gsize n = 0, at;
        struct stat st;

        if (stat(path, &st) < 0 ||
            (uint64_t)st.st_size > COLLECTIONS_MAX_BYTES - collections->n_bytes ||
            !g_file_get_contents(path, &bytes, &n, NULL))
                return;
        collections->n_bytes += MIN(n, COLLECTIONS_MAX_BYTES - collections->n_bytes);
        for (at = 0; n - at >= sizeof(entry); at += sizeof(entry)) {
                memcpy(&entry, bytes + at, sizeof(entry));
                collections_take(collections, &entry);
        }
}

static gint collection_compare(gconstpointer a, gconstpointer b)
{
        const CollectionLogEntry *left = a, *right = b;

        return (left->begin > right->begin) - (left->begin < right->begin);
}

Collections *collections_new(const char *directory)
{
        g_autoptr(GDir) files = g_dir_open(directory, 0, NULL);
        Collections *collections = g_new0(Collections, 1);
        GHashTableIter iter;
        const char *name;
        gpointer value;

        collections->processes = g_hash_table_new_full(NULL, NULL, NULL, collecting_process_free);
        while (files && (name = g_dir_read_name(files))) {
                g_autofree char *path = g_build_filename(directory, name, NULL);

                collections_read(collections, path);
        }
        g_hash_table_iter_init(&iter, collections->processes);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const CollectingProcess *process = value;

                g_array_sort(process->collections, collection_compare);
                g_array_sort(process->pauses, collection_compare);
        }
        return collections;
}

void collections_free(Collections *collections)
{
        if (!collections)
                return;
        g_hash_table_unref(collections->processes);
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

                if (time < entry->end && (!tid || entry->tid == tid))
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
            g_array_index(collections, CollectionLogEntry, n).begin < pause->end)
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

static void collections_sum_process(const CollectingProcess *process, CollectionTotals *totals)
{
        guint i;

        totals->n_processes += process->collections->len != 0;
        for (i = 0; i < process->collections->len; i++) {
                const CollectionLogEntry *entry =
                        &g_array_index(process->collections, CollectionLogEntry, i);

                totals->n[MIN(entry->generation, COLLECTIONS_GENERATIONS - 1)]++;
                totals->n_background += entry->type == COLLECTION_BACKGROUND;
                totals->n_induced += reason_is_induced(entry->reason);
        }
        for (i = 0; i < process->pauses->len; i++) {
                const CollectionLogEntry *entry =
                        &g_array_index(process->pauses, CollectionLogEntry, i);

                totals->paused += entry->end - entry->begin;
                totals->longest = MAX(totals->longest, entry->end - entry->begin);
        }
}

void collections_sum(const Collections *collections, CollectionTotals *ret_totals)
{
        GHashTableIter iter;
        gpointer process;

        *ret_totals = (CollectionTotals){0};
        g_hash_table_iter_init(&iter, collections->processes);
        while (g_hash_table_iter_next(&iter, NULL, &process))
                collections_sum_process(process, ret_totals);
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
