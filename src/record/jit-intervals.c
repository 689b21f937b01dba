/* SPDX-License-Identifier: MIT */
#include "record/jit-intervals.h"

#include "record/target-logs.h"

#define NO_PARENT UINT32_MAX

typedef struct Interval {
        JitLogEntry entry;
        uint32_t parent; /* number of the enclosing one; NO_PARENT: none */
} Interval;

struct JitIntervals {
        TargetLogs *logs;    /* owned */
        uint64_t n_bytes;    /* of the entries of all threads */
        GHashTable *threads; /* owned int64_t "pid and tid" -> owned GArray of Interval */
        GHashTable *first;   /* int32_t pid -> owned uint64_t: ns, begin of its first compilation */
};

static gint64 thread_key(int32_t pid, int32_t tid)
{
        return (gint64)((uint64_t)(uint32_t)pid << 32 | (uint32_t)tid);
}

static void intervals_take_first(JitIntervals *intervals, const JitLogEntry *entry)
{
        uint64_t *first = g_hash_table_lookup(intervals->first, GINT_TO_POINTER(entry->pid));

        if (!first)
                g_hash_table_insert(intervals->first, GINT_TO_POINTER(entry->pid),
                                    g_memdup2(&entry->begin, sizeof(entry->begin)));
        else
                *first = MIN(*first, entry->begin);
}

static bool intervals_take(const void *bytes, void *data)
{
        const JitLogEntry *entry = bytes;
        JitIntervals *intervals = data;
        const gint64 key = thread_key(entry->pid, entry->tid);
        const Interval interval = {*entry, NO_PARENT};
        GArray *thread = g_hash_table_lookup(intervals->threads, &key);

        if (intervals->n_bytes + sizeof(*entry) > JIT_INTERVALS_MAX_BYTES)
                return false;
        if (!thread) {
                thread = g_array_new(FALSE, FALSE, sizeof(Interval));
                g_hash_table_insert(intervals->threads, g_memdup2(&key, sizeof(key)), thread);
        }
        g_array_append_val(thread, interval);
        intervals->n_bytes += sizeof(*entry);
        intervals_take_first(intervals, entry);
        return true;
}

/* Outer ones before inner ones. */
static gint interval_compare(gconstpointer a, gconstpointer b)
{
        const JitLogEntry *left = &((const Interval *)a)->entry;
        const JitLogEntry *right = &((const Interval *)b)->entry;

        if (left->begin != right->begin)
                return left->begin < right->begin ? -1 : 1;
        return (left->end < right->end) - (left->end > right->end);
}

static void thread_find_parents(GArray *thread)
{
        uint32_t around = NO_PARENT, i;

        g_array_sort(thread, interval_compare);
        for (i = 0; i < thread->len; i++) {
                Interval *interval = &g_array_index(thread, Interval, i);

                while (around != NO_PARENT &&
                       g_array_index(thread, Interval, around).entry.end <= interval->entry.begin)
                        around = g_array_index(thread, Interval, around).parent;
                interval->parent = around;
                around = i;
        }
}

void jit_intervals_update(JitIntervals *intervals)
{
        GHashTableIter iter;
        gpointer thread;

        target_logs_read(intervals->logs, intervals_take, intervals);
        g_hash_table_iter_init(&iter, intervals->threads);
        while (g_hash_table_iter_next(&iter, NULL, &thread))
                thread_find_parents(thread);
}

JitIntervals *jit_intervals_new(const char *directory)
{
        JitIntervals *intervals = g_new0(JitIntervals, 1);

        intervals->threads = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
                                                   (GDestroyNotify)g_array_unref);
        intervals->first = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        intervals->logs = target_logs_new(directory, sizeof(JitLogEntry));
        jit_intervals_update(intervals);
        return intervals;
}

void jit_intervals_free(JitIntervals *intervals)
{
        if (!intervals)
                return;
        g_hash_table_unref(intervals->threads);
        g_hash_table_unref(intervals->first);
        target_logs_free(intervals->logs);
        g_free(intervals);
}

static void intervals_end_process(int32_t pid, void *data)
{
        JitIntervals *intervals = data;

        g_hash_table_remove(intervals->first, GINT_TO_POINTER(pid));
}

void jit_intervals_forget(JitIntervals *intervals, uint64_t time)
{
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, intervals->threads);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                GArray *thread = value;
                guint n = 0, i;

                for (i = 0; i < thread->len; i++) {
                        const Interval *interval = &g_array_index(thread, Interval, i);

                        if (interval->entry.end > time)
                                g_array_index(thread, Interval, n++) = *interval;
                }
                intervals->n_bytes -= (uint64_t)(thread->len - n) * sizeof(JitLogEntry);
                g_array_set_size(thread, n);
                if (n)
                        thread_find_parents(thread);
                else
                        g_hash_table_iter_remove(&iter);
        }
        target_logs_forget(intervals->logs, intervals_end_process, intervals);
}

unsigned jit_intervals_n_cut(const JitIntervals *intervals)
{
        return target_logs_n_cut(intervals->logs, JIT_LOG_MAX_BYTES);
}

bool jit_intervals_is_before(const JitIntervals *intervals, int32_t pid, uint64_t time)
{
        const uint64_t *first = g_hash_table_lookup(intervals->first, GINT_TO_POINTER(pid));

        return !first || time < *first;
}

/* The number of those that begin at TIME or before. */
static uint32_t thread_count_begun(const GArray *thread, uint64_t time)
{
        uint32_t low = 0, high = thread->len;

        while (low < high) {
                const uint32_t middle = low + (high - low) / 2;

                if (g_array_index(thread, Interval, middle).entry.begin <= time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

const JitLogEntry *jit_intervals_find(const JitIntervals *intervals, int32_t pid, int32_t tid,
                                      uint64_t time)
{
        const gint64 key = thread_key(pid, tid);
        const GArray *thread = g_hash_table_lookup(intervals->threads, &key);
        uint32_t n = thread ? thread_count_begun(thread, time) : 0;
        uint32_t at = n ? n - 1 : NO_PARENT;

        while (at != NO_PARENT && g_array_index(thread, Interval, at).entry.end <= time)
                at = g_array_index(thread, Interval, at).parent;
        return at == NO_PARENT ? NULL : &g_array_index(thread, Interval, at).entry;
}

void jit_intervals_each(const JitIntervals *intervals,
                        void (*fn)(const JitLogEntry *entry, void *data), void *data)
{
        GHashTableIter iter;
        gpointer value;
        guint i;

        g_hash_table_iter_init(&iter, intervals->threads);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const GArray *thread = value;

                for (i = 0; i < thread->len; i++)
                        fn(&g_array_index(thread, Interval, i).entry, data);
        }
}
