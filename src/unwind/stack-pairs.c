/* SPDX-License-Identifier: MIT */
#include "unwind/stack-pairs.h"

#include "util/clock.h"

#include <string.h>

bool stack_pairs_are(const struct perf_event_attr *chains, const struct perf_event_attr *copies)
{
        return perf_sample_has(copies) && perf_sample_has_chain(chains) &&
               !perf_sample_has(chains) && chains->type == copies->type &&
               chains->config == copies->config && chains->freq == copies->freq &&
               chains->sample_freq == copies->sample_freq;
}

/* One of perf's other events has no samples. */
static void stack_pairs_find_events(StackPairs *pairs)
{
        const GArray *attrs = pairs->data->attrs;
        guint i, j;

        for (i = 0; i < attrs->len; i++)
                for (j = 0; j < attrs->len && !pairs->chains; j++) {
                        const PerfAttr *event = &g_array_index(attrs, PerfAttr, i);
                        const PerfAttr *copies = &g_array_index(attrs, PerfAttr, j);

                        if (stack_pairs_are(&event->attr, &copies->attr)) {
                                pairs->chains = event;
                                pairs->copies = copies;
                        }
                }
}

/* Half of the period: beyond it, another copy is nearer. */
static uint64_t event_half_period(const PerfAttr *event)
{
        const uint64_t ns = event->attr.freq && event->attr.sample_freq
                                    ? NS_PER_SECOND / event->attr.sample_freq / 2
                                    : 0;

        return CLAMP(ns, STACK_PAIR_ONE_MOMENT, STACK_PAIR_APART);
}

void stack_pairs_init(StackPairs *pairs, PerfData *data)
{
        pairs->data = data;
        pairs->chains = pairs->copies = NULL;
        pairs->apart = STACK_PAIR_APART;
        pairs->rows = g_array_new(FALSE, FALSE, sizeof(StackPair));
        pairs->is_sorted = false;
        if (data)
                stack_pairs_find_events(pairs);
        if (pairs->chains)
                pairs->apart = event_half_period(pairs->chains);
}

void stack_pairs_deinit(StackPairs *pairs)
{
        g_clear_pointer(&pairs->rows, g_array_unref);
}

void stack_pairs_add(StackPairs *pairs, const StackPair *row)
{
        if (pairs->rows->len == STACK_PAIRS_MAX)
                return;
        g_array_append_val(pairs->rows, *row);
        pairs->is_sorted = false;
}

void stack_pairs_note(StackPairs *pairs, const PerfAttr *event,
                      const struct perf_event_header *record, const PerfSample *sample)
{
        if (event == pairs->copies && sample->regs)
                stack_pairs_add(pairs,
                                &(const StackPair){.time = sample->time,
                                                   .offset = pairs->data->next - record->size,
                                                   .tid = sample->tid});
}

void stack_pairs_begin(StackPairs *pairs)
{
        /* Compressed records have no place in the file from which to read a copy again. */
        if (perf_data_is_compressed(pairs->data))
                pairs->chains = pairs->copies = NULL;
}

static int stack_pair_compare(gconstpointer one, gconstpointer other)
{
        const StackPair *a = one, *b = other;

        return a->tid != b->tid ? (a->tid > b->tid) - (a->tid < b->tid)
                                : (a->time > b->time) - (a->time < b->time);
}

static uint64_t time_distance(uint64_t one, uint64_t other)
{
        return one > other ? one - other : other - one;
}

static uint64_t stack_pair_distance(const StackPair *row, int32_t tid, uint64_t time)
{
        return row->tid == tid ? time_distance(row->time, time) : UINT64_MAX;
}

const StackPair *stack_pairs_find(StackPairs *pairs, int32_t tid, uint64_t time)
{
        const StackPair key = {.tid = tid, .time = time}, *found = NULL;
        guint low = 0, high = pairs->rows->len, i;

        if (!pairs->is_sorted)
                g_array_sort(pairs->rows, stack_pair_compare);
        pairs->is_sorted = true;
        while (low < high) {
                const guint middle = low + (high - low) / 2;

                if (stack_pair_compare(&g_array_index(pairs->rows, StackPair, middle), &key) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        for (i = low ? low - 1 : 0; i < pairs->rows->len && i <= low; i++) {
                const StackPair *row = &g_array_index(pairs->rows, StackPair, i);
                const uint64_t distance = stack_pair_distance(row, tid, time);

                if (distance <= pairs->apart &&
                    (!found || distance < stack_pair_distance(found, tid, time)))
                        found = row;
        }
        return found;
}

bool stack_pairs_read(StackPairs *pairs, const PerfSample *sample, PerfSample *ret_copy)
{
        const StackPair *pair = stack_pairs_find(pairs, sample->tid, sample->time);
        struct perf_event_header *record = (struct perf_event_header *)(void *)pairs->record;
        struct perf_event_header header;

        if (!pair ||
            !perf_data_read(pairs->data, pair->offset, &header, sizeof(header),
                            /* error= */ NULL) ||
            header.size < sizeof(header) ||
            !perf_data_read(pairs->data, pair->offset, record, header.size, /* error= */ NULL))
                return false;
        /* The file may have changed meanwhile. */
        *record = header;
        return perf_data_event(pairs->data, record) == pairs->copies &&
               perf_sample_read(&pairs->copies->attr, record, ret_copy) && ret_copy->regs &&
               ret_copy->tid == sample->tid && ret_copy->pid == sample->pid;
}

bool stack_pair_is_one_moment(const PerfSample *sample, uint64_t leaf, const PerfSample *copy,
                              uint64_t pc)
{
        return leaf == pc && time_distance(copy->time, sample->time) <= STACK_PAIR_ONE_MOMENT;
}

/*
 * How well CHAIN fits the copy if it lacks N_LACKING of the frames next to the leaf: two for each
 * common address, minus one for each different one. RET_LAST: the place in CALLERS of the last
 * common address.
 */
static int merge_score(const uint64_t *callers, size_t n, const uint64_t *chain, size_t n_chain,
                       size_t n_lacking, size_t *ret_last)
{
        int score = 0;
        size_t i;

        for (i = n_lacking + 1; i < n && i - n_lacking < n_chain; i++) {
                const bool is_equal = callers[i] == chain[i - n_lacking];

                score += is_equal ? 2 : -1;
                if (is_equal)
                        *ret_last = i;
        }
        return score;
}

size_t stack_pair_merge(uint64_t *callers, size_t n, size_t max, const uint64_t *chain,
                        size_t n_chain, size_t *ret_last)
{
        size_t last = 0, n_lacking = 0, i, n_more;
        int best = 0;

        for (i = 0; i < n; i++) {
                size_t its_last = 0;
                const int score = merge_score(callers, n, chain, n_chain, i, &its_last);

                if (score > best) {
                        best = score;
                        last = its_last;
                        n_lacking = i;
                }
        }
        *ret_last = best ? last : n;
        if (best == 0)
                return n;
        n_more = MIN(n_chain - (last - n_lacking) - 1, max - last - 1);
        memcpy(callers + last + 1, chain + last - n_lacking + 1, n_more * sizeof(*callers));
        return last + 1 + n_more;
}
