/* SPDX-License-Identifier: MIT */
#include "perfdata/thread-names.h"

#include "perfdata/perf-data.h"

#include <string.h>

/* The kernel's limit, with the NUL. */
#define MAX_NAME 16

typedef struct ThreadName {
        uint64_t time;
        const char *name; /* NULL: of a fork, until the rows are sorted; or not known */
        int32_t tid;
        int32_t parent;  /* of a fork: the thread that made it; 0: not of a fork */
        uint32_t number; /* of the record, in the order of the file */
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
        const char *text = (const char *)(record + 1) + 2 * sizeof(uint32_t);
        uint32_t ids[4]; /* of a name: process and thread; of a fork: ForkRecord */
        char name[MAX_NAME] = "";
        size_t n;

        if (record->type == PERF_RECORD_FORK && record->size >= sizeof(ForkRecord)) {
                memcpy(ids, record + 1, sizeof(ids));
                names_add(names, (ThreadName){
                                         .tid = (int32_t)ids[2],
                                         .parent = (int32_t)ids[3],
                                         .time = time,
                                 });
        }
        if (record->type != PERF_RECORD_COMM || record->size <= sizeof(*record) + 8)
                return;
        n = record->size - sizeof(*record) - 8;
        memcpy(ids, record + 1, 8);
        memcpy(name, text, strnlen(text, MIN(n, sizeof(name) - 1)));
        names_add(names, (ThreadName){.tid = (int32_t)ids[1],
                                      .time = time,
                                      .name = g_string_chunk_insert_const(names->texts, name)});
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

/* In the order of time each fork gets the name that its parent has then. */
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
