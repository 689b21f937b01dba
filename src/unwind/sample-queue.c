/* SPDX-License-Identifier: MIT */
#include "unwind/sample-queue.h"

#include "unwind/stack-pairs.h"

#include <string.h>

void sample_queue_init(SampleQueue *queue, QueuedSampleFn fn, void *data)
{
        *queue = (SampleQueue){
                .heap = g_ptr_array_new_with_free_func(g_free), .fn = fn, .data = data};
}

void sample_queue_deinit(SampleQueue *queue)
{
        g_clear_pointer(&queue->heap, g_ptr_array_unref);
}

static bool queued_is_before(const QueuedSample *one, const QueuedSample *other)
{
        return one->due != other->due ? one->due < other->due : one->number < other->number;
}

static size_t queued_size(const QueuedSample *sample)
{
        return sizeof(*sample) + sample->n_chain * sizeof(*sample->chain);
}

static void queue_push(SampleQueue *queue, QueuedSample *sample)
{
        guint at = queue->heap->len;
        gpointer *heap;

        g_ptr_array_add(queue->heap, sample);
        heap = queue->heap->pdata;
        for (; at && queued_is_before(sample, heap[(at - 1) / 2]); at = (at - 1) / 2)
                heap[at] = heap[(at - 1) / 2];
        heap[at] = sample;
        queue->n_bytes += queued_size(sample);
}

/* The oldest one, which the caller frees. */
static QueuedSample *queue_pop(SampleQueue *queue)
{
        gpointer *heap = queue->heap->pdata;
        QueuedSample *first = heap[0], *last = heap[queue->heap->len - 1];
        const guint n = queue->heap->len - 1;
        guint at = 0, child;

        for (; (child = 2 * at + 1) < n; at = child) {
                child += child + 1 < n && queued_is_before(heap[child + 1], heap[child]);
                if (!queued_is_before(heap[child], last))
                        break;
                heap[at] = heap[child];
        }
        heap[at] = last;
        heap[n] = NULL;
        g_ptr_array_set_size(queue->heap, (gint)n);
        queue->n_bytes -= queued_size(first);
        return first;
}

/* Passes on all samples up to TIME, or until at most N_BYTES are left. */
static bool queue_flush(SampleQueue *queue, uint64_t time, size_t n_bytes)
{
        bool goes_on = true;

        while (goes_on && queue->heap->len && queue->n_bytes > n_bytes &&
               ((const QueuedSample *)queue->heap->pdata[0])->due <= time) {
                g_autofree QueuedSample *sample = queue_pop(queue);

                goes_on = queue->fn(sample, queue->data);
        }
        return goes_on;
}

bool sample_queue_add(SampleQueue *queue, const QueuedSample *sample, const uint64_t *chain)
{
        QueuedSample *copy = g_malloc(queued_size(sample));

        *copy = *sample;
        copy->number = queue->n_added++;
        if (sample->n_chain)
                memcpy(copy->chain, chain, sample->n_chain * sizeof(*chain));
        /* Samples without a time keep the order of the file. */
        copy->due = copy->time == UINT64_MAX ? queue->newest : copy->time;
        queue->newest = MAX(queue->newest, copy->due);
        queue_push(queue, copy);
        return queue->n_bytes <= SAMPLE_QUEUE_MAX_BYTES ||
               queue_flush(queue, UINT64_MAX, SAMPLE_QUEUE_MAX_BYTES / 2);
}

bool sample_queue_round(SampleQueue *queue)
{
        const bool goes_on = queue_flush(queue, queue->due, 0);

        queue->due = queue->newest - MIN(queue->newest, 2 * STACK_PAIR_APART);
        return goes_on;
}

bool sample_queue_end(SampleQueue *queue)
{
        return queue_flush(queue, UINT64_MAX, 0);
}
