/* SPDX-License-Identifier: MIT */
#include "perfdata/switches.h"

/* The kind of a row, in the lowest bits of its time. */
typedef enum SwitchKind {
        SWITCH_IN,
        SWITCH_OUT,
        SWITCH_PREEMPTED,
        SWITCH_END,
} SwitchKind;

#define SWITCH_BITS 2
#define SWITCH_MASK ((UINT64_C(1) << SWITCH_BITS) - 1)

struct Switches {
        GHashTable *threads; /* owned: int32_t tid -> owned GArray of uint64_t: time and kind */
        uint64_t n, max;
        uint64_t last;    /* time of the newest record */
        uint64_t left_at; /* time of the oldest dropped record; UINT64_MAX: none */
        bool is_sorted;
};

Switches *switches_new(uint64_t max)
{
        Switches *switches = g_new0(Switches, 1);

        switches->threads = g_hash_table_new_full(NULL, NULL, NULL, (GDestroyNotify)g_array_unref);
        switches->max = max;
        switches->left_at = UINT64_MAX;
        return switches;
}

void switches_free(Switches *switches)
{
        if (!switches)
                return;
        g_hash_table_unref(switches->threads);
        g_free(switches);
}

static void switches_add(Switches *switches, int32_t tid, uint64_t time, SwitchKind kind)
{
        GArray *rows = g_hash_table_lookup(switches->threads, GINT_TO_POINTER(tid));
        const uint64_t row = time << SWITCH_BITS | kind;

        if (switches->n == switches->max) {
                switches->left_at = MIN(switches->left_at, time);
                return;
        }
        if (!rows) {
                rows = g_array_new(FALSE, FALSE, sizeof(uint64_t));
                g_hash_table_insert(switches->threads, GINT_TO_POINTER(tid), rows);
        }
        g_array_append_val(rows, row);
        switches->n++;
        switches->is_sorted = false;
}

void switches_take(Switches *switches, const PerfRecordId *id,
                   const struct perf_event_header *record)
{
        /* PERF_RECORD_EXIT has the layout of PERF_RECORD_FORK. */
        const ForkRecord *end = (const ForkRecord *)(const void *)record;

        switches->last = MAX(switches->last, id->time);
        switch (record->type) {
        case PERF_RECORD_SWITCH:
        case PERF_RECORD_SWITCH_CPU_WIDE:
                switches_add(switches, id->tid, id->time,
                             !(record->misc & PERF_RECORD_MISC_SWITCH_OUT)        ? SWITCH_IN
                             : record->misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT ? SWITCH_PREEMPTED
                                                                                  : SWITCH_OUT);
                break;
        case PERF_RECORD_EXIT:
                if (record->size >= sizeof(*end))
                        switches_add(switches, (int32_t)end->tid, id->time, SWITCH_END);
                break;
        default:
                break;
        }
}

static int switch_compare(gconstpointer one, gconstpointer other)
{
        const uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;

        return (a > b) - (a < b);
}

static void switches_sort(Switches *switches)
{
        GHashTableIter iter;
        gpointer rows;

        g_hash_table_iter_init(&iter, switches->threads);
        while (g_hash_table_iter_next(&iter, NULL, &rows))
                g_array_sort(rows, switch_compare);
        switches->is_sorted = true;
}

/* The index of the first row at or after KEY; the number of rows: none. */
static guint switches_from(const GArray *rows, uint64_t key)
{
        guint low = 0, high = rows->len;

        while (low < high) {
                const guint middle = low + (high - low) / 2;

                if (g_array_index(rows, uint64_t, middle) < key)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

WaitKind switches_find(Switches *switches, int32_t tid, uint64_t time, uint64_t *ret_duration)
{
        const GArray *rows;
        WaitKind kind = WAIT_UNCERTAIN;
        guint i;

        *ret_duration = 0;
        if (!switches->is_sorted)
                switches_sort(switches);
        rows = g_hash_table_lookup(switches->threads, GINT_TO_POINTER(tid));
        if (!rows || time > UINT64_MAX >> SWITCH_BITS)
                return WAIT_UNCERTAIN;
        i = switches_from(rows, time << SWITCH_BITS);
        /* The kernel samples an ending thread after it has reported the end. */
        if (i && (g_array_index(rows, uint64_t, i - 1) & SWITCH_MASK) == SWITCH_END)
                return WAIT_NONE;
        for (; i < rows->len; i++) {
                const uint64_t row = g_array_index(rows, uint64_t, i);

                switch ((SwitchKind)(row & SWITCH_MASK)) {
                case SWITCH_IN:
                        /* The previous row may have been dropped. */
                        if (kind == WAIT_UNCERTAIN || row >> SWITCH_BITS > switches->left_at)
                                return WAIT_UNCERTAIN;
                        *ret_duration = (row >> SWITCH_BITS) - time;
                        return kind;
                case SWITCH_END:
                        return WAIT_NONE;
                case SWITCH_OUT:
                case SWITCH_PREEMPTED:
                        if (kind != WAIT_UNCERTAIN)
                                return WAIT_UNCERTAIN;
                        kind = (row & SWITCH_MASK) == SWITCH_OUT ? WAIT_SLEEPS : WAIT_FOR_CPU;
                        break;
                }
        }
        if (kind == WAIT_UNCERTAIN || switches->left_at != UINT64_MAX)
                return WAIT_UNCERTAIN;
        *ret_duration = switches->last - MIN(switches->last, time);
        return kind;
}
