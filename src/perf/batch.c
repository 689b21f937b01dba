/* SPDX-License-Identifier: MIT */
#include "perf/batch.h"

#include "util/array.h"

#include <stdlib.h>
#include <string.h>

/* Limits of samples without managed frames; a sample can have a thousand entries. */
#define MAX_ENTRIES 32768
#define MAX_SAMPLES 4096

/* Appends an element of SIZE bytes. */
static void *batch_add(void *array, size_t *n, size_t *n_size, size_t size)
{
        char *elements;

        if (!array_grow(array, n_size, *n + 1, size))
                return NULL;
        memcpy(&elements, array, sizeof(elements));
        return memset(elements + (*n)++ * size, 0, size);
}

#define ADD(batch, name)                                                                           \
        batch_add(&(batch)->name, &(batch)->n_##name, &(batch)->n_##name##_size,                   \
                  sizeof(*(batch)->name))

void batch_deinit(Batch *batch)
{
        free(batch->samples);
        free(batch->entries);
        free(batch->asks);
        free(batch->queries);
        free(batch->answers);
        free(batch->inlined);
        free(batch->callers);
        *batch = (Batch){0};
}

void batch_clear(Batch *batch)
{
        batch->n_samples = batch->n_entries = batch->n_asks = batch->n_queries = 0;
        batch->n_inlined = batch->n_callers = 0;
        batch->has_dropped = false;
}

bool batch_is_full(const Batch *batch)
{
        return batch->n_queries >= CLRSYM_BATCH || batch->n_entries >= MAX_ENTRIES ||
               batch->n_samples >= MAX_SAMPLES;
}

BatchSample *batch_add_sample(Batch *batch)
{
        BatchSample *sample = ADD(batch, samples);

        if (sample)
                sample->first = batch->n_entries;
        return sample;
}

Entry *batch_add_entry(Batch *batch)
{
        Entry *entry = ADD(batch, entries);

        if (entry)
                batch->samples[batch->n_samples - 1].n++;
        return entry;
}

Ask *batch_add_ask(Batch *batch)
{
        Ask *ask = ADD(batch, asks);

        if (ask) {
                ask->entry = batch->n_entries - 1;
                ask->sample = batch->n_samples - 1;
                ask->query = batch->n_queries;
        }
        return ask;
}

clrsym_query *batch_add_query(Batch *batch)
{
        return ADD(batch, queries);
}

clrsym_answer *batch_answers(Batch *batch)
{
        return array_grow(&batch->answers, &batch->n_answers_size, batch->n_queries,
                          sizeof(*batch->answers))
                       ? batch->answers
                       : NULL;
}

bool batch_add_inlined(Batch *batch, Entry *entry, uint32_t frame)
{
        uint32_t *added = ADD(batch, inlined);

        if (!added)
                return false;
        *added = frame;
        if (!entry->n_inlined++)
                entry->inlined = batch->n_inlined - 1;
        return true;
}

Entry *batch_add_caller(Batch *batch, Entry *entry)
{
        Entry *caller = ADD(batch, callers);

        if (caller)
                entry->caller = batch->n_callers;
        return caller;
}

Entry *batch_add_root(Batch *batch, const BatchSample *sample)
{
        Entry *last = &batch->entries[sample->first + sample->n - 1];
        const size_t added = last->caller;
        Entry *root = ADD(batch, callers);

        if (root && added)
                batch->callers[added - 1].caller = batch->n_callers;
        else if (root)
                last->caller = batch->n_callers;
        return root;
}

/* Copies ENTRY, after what is inlined there, to the end of OUT. */
static void batch_expand_entry(const Batch *batch, const Entry *entry, Entry *out, size_t *n)
{
        uint32_t i;

        for (i = 0; i < entry->n_inlined; i++)
                out[(*n)++] = (Entry){.ip = entry->ip,
                                      .frame = batch->inlined[entry->inlined + i],
                                      .source = FRAME_SOURCE_INLINED};
        out[(*n)++] = *entry;
}

static void batch_expand_sample(const Batch *batch, BatchSample *sample, Entry *out, size_t *n)
{
        size_t first = *n, i;

        for (i = sample->first; i < sample->first + sample->n; i++) {
                const Entry *entry = &batch->entries[i];

                if (entry->role != ENTRY_DROPPED)
                        batch_expand_entry(batch, entry, out, n);
                while (entry->caller) {
                        entry = &batch->callers[entry->caller - 1];
                        batch_expand_entry(batch, entry, out, n);
                }
        }
        sample->first = first;
        sample->n = *n - first;
}

bool batch_expand(Batch *batch)
{
        size_t n = 0, n_all = batch->n_entries + batch->n_inlined + batch->n_callers, i;
        Entry *entries;

        if (!batch->n_inlined && !batch->n_callers && !batch->has_dropped)
                return true;
        entries = malloc(n_all * sizeof(*entries));
        if (!entries)
                return false;
        for (i = 0; i < batch->n_samples; i++)
                batch_expand_sample(batch, &batch->samples[i], entries, &n);
        free(batch->entries);
        batch->entries = entries;
        batch->n_entries = n;
        batch->n_entries_size = n_all;
        return true;
}
