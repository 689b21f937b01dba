/* SPDX-License-Identifier: MIT */
#include "perf/osr-callers.h"

#include "util/array.h"

#include <stdlib.h>
#include <string.h>

static int number_compare(uint64_t one, uint64_t other)
{
        return (one > other) - (one < other);
}

/* Compares the members that samples without a copy of the stack have, too. */
static int place_compare(const OsrCaller *one, const OsrCaller *other)
{
        int r = number_compare((uint32_t)one->pid, (uint32_t)other->pid);

        r = r ? r : number_compare(one->slot, other->slot);
        return r ? r : number_compare(one->next, other->next);
}

static int sample_compare(const OsrCaller *one, const OsrCaller *other)
{
        int r = place_compare(one, other);

        r = r ? r : number_compare((uint32_t)one->tid, (uint32_t)other->tid);
        return r ? r : number_compare(one->time, other->time);
}

static int caller_compare(const void *one, const void *other)
{
        const OsrCaller *a = one, *b = other;
        int r = sample_compare(a, b);

        return r ? r : number_compare(a->caller, b->caller);
}

static int place_caller_compare(const void *one, const void *other)
{
        const OsrCaller *a = one, *b = other;
        int r = place_compare(a, b);

        return r ? r : number_compare(a->caller, b->caller);
}

static int frame_compare(const void *one, const void *other)
{
        const OsrCaller *a = one, *b = other;
        int r = number_compare((uint32_t)a->pid, (uint32_t)b->pid);

        r = r ? r : number_compare(a->slot, b->slot);
        r = r ? r : number_compare((uint32_t)a->tid, (uint32_t)b->tid);
        r = r ? r : number_compare(a->time, b->time);
        return r ? r : number_compare(a->frame, b->frame);
}

static int distance_compare(const void *one, const void *other)
{
        return number_compare(((const OsrCaller *)one)->distance,
                              ((const OsrCaller *)other)->distance);
}

/*
 * Moves the rows to keep to TO, and returns their number. ROWS have one slot, in N_FRAMES frames.
 */
static size_t slot_keep(OsrCaller *rows, size_t n, size_t n_frames, OsrCaller *to)
{
        size_t i, end, n_kept = 0;

        if (n > n_frames)
                qsort(rows, n, sizeof(*rows), distance_compare);
        for (i = 0; n > n_frames && i < n; i = end) {
                for (end = i; end < n && rows[end].distance == rows[i].distance; end++)
                        ;
                if (end - i != n_frames)
                        continue;
                memmove(to + n_kept, rows + i, n_frames * sizeof(*rows));
                n_kept += n_frames;
        }
        if (n_kept)
                return n_kept;
        memmove(to, rows, n * sizeof(*rows));
        return n;
}

static void callers_keep(OsrCallers *callers)
{
        OsrCaller *rows = callers->rows;
        size_t n = callers->n, n_kept = 0, i, end;

        qsort(rows, n, sizeof(*rows), frame_compare);
        for (i = 0; i < n; i = end) {
                size_t n_frames = 0;

                for (end = i;
                     end < n && rows[end].pid == rows[i].pid && rows[end].slot == rows[i].slot;
                     end++)
                        n_frames += end == i || frame_compare(&rows[end - 1], &rows[end]) != 0;
                n_kept += slot_keep(rows + i, end - i, n_frames, rows + n_kept);
        }
        callers->n = n_kept;
}

static void callers_sort(OsrCallers *callers)
{
        OsrCaller *places = callers->places;
        size_t i, n = 0;

        memcpy(places, callers->rows, callers->n * sizeof(*places));
        qsort(callers->rows, callers->n, sizeof(*callers->rows), caller_compare);
        qsort(places, callers->n, sizeof(*places), place_caller_compare);
        for (i = 0; i < callers->n; i++)
                if (!n || place_caller_compare(&places[n - 1], &places[i]) != 0)
                        places[n++] = places[i];
        callers->n_places = n;
}

bool osr_callers_init(OsrCallers *callers, const OsrCaller *rows, size_t n)
{
        *callers = (OsrCallers){
                .rows = malloc((n + 1) * sizeof(*rows)),
                .places = malloc((n + 1) * sizeof(*rows)),
                .n = n,
        };
        if (!callers->rows || !callers->places) {
                osr_callers_deinit(callers);
                return false;
        }
        if (n) {
                memcpy(callers->rows, rows, n * sizeof(*rows));
                callers_keep(callers);
                callers_sort(callers);
        }
        return true;
}

void osr_callers_deinit(OsrCallers *callers)
{
        free(callers->rows);
        free(callers->places);
        *callers = (OsrCallers){0};
}

typedef int (*CallerOrder)(const OsrCaller *one, const OsrCaller *other);

/* The number of the first row that is not before KEY; N: none. */
static size_t rows_first(const OsrCaller *rows, size_t n, const OsrCaller *key, CallerOrder order)
{
        size_t low = 0, high = n;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (order(&rows[middle], key) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

/* The distinct callers of the rows that equal KEY; 0: none, or too many. */
static size_t rows_collect(const OsrCaller *rows, size_t n, const OsrCaller *key, CallerOrder order,
                           uint64_t ret[OSR_CALLERS_EACH])
{
        size_t n_found = 0, i, j;

        for (i = rows_first(rows, n, key, order); i < n && order(&rows[i], key) == 0; i++) {
                for (j = 0; j < n_found && ret[j] != rows[i].caller; j++)
                        ;
                if (j < n_found)
                        continue;
                if (n_found == OSR_CALLERS_EACH)
                        return 0;
                ret[n_found++] = rows[i].caller;
        }
        return n_found;
}

size_t osr_callers_find(const OsrCallers *callers, const OsrCaller *key,
                        uint64_t ret[OSR_CALLERS_EACH], bool *ret_is_own)
{
        size_t n = rows_collect(callers->rows, callers->n, key, sample_compare, ret);

        *ret_is_own = n > 0;
        return n ? n : rows_collect(callers->places, callers->n_places, key, place_compare, ret);
}

struct OsrSlot {
        uint64_t slot;
        int32_t pid;
};

static bool equal_slot(const void *rows, uint32_t number, const void *key)
{
        const struct OsrSlot *row = (const struct OsrSlot *)rows + number, *slot = key;

        return row->slot == slot->slot && row->pid == slot->pid;
}

static uint64_t slot_hash(const struct OsrSlot *slot)
{
        return hash_number(hash_number(0, slot->slot), (uint64_t)slot->pid);
}

bool osr_slots_have(const OsrSlots *slots, int32_t pid, uint64_t slot)
{
        const struct OsrSlot key = {slot, pid};

        return hash_index_find(&slots->index, slot_hash(&key), equal_slot, slots->rows, &key) !=
               INDEX_NONE;
}

bool osr_slots_add(OsrSlots *slots, int32_t pid, uint64_t slot)
{
        const struct OsrSlot key = {slot, pid};

        if (osr_slots_have(slots, pid, slot))
                return true;
        if (!array_grow(&slots->rows, &slots->n_rows, slots->n + (size_t)1, sizeof(*slots->rows)) ||
            !hash_index_add(&slots->index, slot_hash(&key), slots->n))
                return false;
        slots->rows[slots->n++] = key;
        return true;
}

void osr_slots_deinit(OsrSlots *slots)
{
        free(slots->rows);
        hash_index_deinit(&slots->index);
        *slots = (OsrSlots){0};
}
