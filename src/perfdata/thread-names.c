/* SPDX-License-Identifier: MIT */
#include "perfdata/thread-names.h"

#include "perfdata/perf-data.h"

typedef struct ThreadName {
        uint64_t time;
        const char *name; /* NULL: a fork before the rows are sorted; or not known */
        int32_t tid;
        int32_t parent;  /* of a fork: the parent thread; 0: not a fork */
        uint32_t number; /* number of the record in the file */
} ThreadName;

ThreadNames *thread_names_new(void)
{
        ThreadNames *names = g_new0(ThreadNames, 1);

        names->rows = g_array_new(FALSE, FALSE, sizeof(ThreadName));
        names->texts = g_string_chunk_new(4096);
        return names;
}

void thread_names_free(ThreadNames *names)
{
        if (!names)
                return;
        g_array_unref(names->rows);
        g_string_chunk_free(names->texts);
        g_free(names);
}

static void names_add(ThreadNames *names, ThreadName row)
{
        if (names->rows->len == THREAD_MAX_NAMES)
                return;
        row.number = names->rows->len;
        g_array_append_val(names->rows, row);
        names->is_sorted = false;
}

void thread_names_take(ThreadNames *names, const struct perf_event_header *record, uint64_t time)
{
        ForkRecord fork;
        CommRecord comm;

        if (fork_record_read(&fork, record))
                names_add(names, (ThreadName){.tid = (int32_t)fork.tid,
                                              .parent = (int32_t)fork.parent_tid,
                                              .time = time});
        if (comm_record_read(&comm, record))
                names_add(names, (ThreadName){.tid = comm.tid,
                                              .time = time,
                                              .name = g_string_chunk_insert_const(names->texts,
                                                                                  comm.name)});
}

static int thread_name_compare_time(gconstpointer one, gconstpointer other)
{
        const ThreadName *a = one, *b = other;

        return a->time != b->time ? (a->time > b->time) - (a->time < b->time)
                                  : (a->number > b->number) - (a->number < b->number);
}

static int thread_name_compare(gconstpointer one, gconstpointer other)
{
        const ThreadName *a = one, *b = other;

        return a->tid != b->tid ? (a->tid > b->tid) - (a->tid < b->tid)
                                : thread_name_compare_time(one, other);
}

/* Gives each fork, in order of time, the name that its parent has at that time. */
static void names_sort(ThreadNames *names)
{
        g_autoptr(GHashTable) now = g_hash_table_new(NULL, NULL);
        guint i;

        g_array_sort(names->rows, thread_name_compare_time);
        for (i = 0; i < names->rows->len; i++) {
                ThreadName *row = &g_array_index(names->rows, ThreadName, i);

                if (row->parent && !row->name)
                        row->name = g_hash_table_lookup(now, GINT_TO_POINTER(row->parent));
                g_hash_table_insert(now, GINT_TO_POINTER(row->tid), (gpointer)row->name);
        }
        g_array_sort(names->rows, thread_name_compare);
        names->is_sorted = true;
}

const char *thread_names_find(ThreadNames *names, int32_t tid, uint64_t time)
{
        guint low = 0, high = names->rows->len;
        const ThreadName *row;

        if (!names->is_sorted)
                names_sort(names);
        while (low < high) {
                const guint middle = low + (high - low) / 2;

                row = &g_array_index(names->rows, ThreadName, middle);
                if (row->tid < tid || (row->tid == tid && row->time <= time))
                        low = middle + 1;
                else
                        high = middle;
        }
        row = low ? &g_array_index(names->rows, ThreadName, low - 1) : NULL;
        return row && row->tid == tid ? row->name : NULL;
}
