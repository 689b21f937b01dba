/* SPDX-License-Identifier: MIT */
#include "nettrace/queue.h"

#include <string.h>

struct NettraceChunk {
        size_t n_references;
        size_t n_bytes;
        uint8_t bytes[];
};

void nettrace_queue_init(NettraceQueue *queue)
{
        *queue = (NettraceQueue){
                .events = g_array_new(FALSE, FALSE, sizeof(NettraceQueued)),
                .scratch = g_array_new(FALSE, FALSE, sizeof(NettraceQueued)),
                .losses = g_array_new(FALSE, FALSE, sizeof(StreamGap)),
                .earliest = UINT64_MAX,
        };
}

static NettraceQueued *queue_at(const NettraceQueue *queue, size_t i)
{
        return &g_array_index(queue->events, NettraceQueued, i);
}

static StreamGap *queue_loss(const NettraceQueue *queue, size_t i)
{
        return &g_array_index(queue->losses, StreamGap, i);
}

NettraceChunk *nettrace_queue_chunk(NettraceQueue *queue, const uint8_t *bytes, size_t n)
{
        NettraceChunk *chunk = g_malloc(sizeof(*chunk) + n);

        chunk->n_references = 1;
        chunk->n_bytes = n;
        memcpy(chunk->bytes, bytes, n);
        queue->n_bytes += n;
        return chunk;
}

void nettrace_queue_release_chunk(NettraceQueue *queue, NettraceChunk *chunk)
{
        if (--chunk->n_references > 0)
                return;
        queue->n_bytes -= chunk->n_bytes;
        g_free(chunk);
}

/* Events that the empty tables keep room for: the memory of a burst is freed. */
#define KEPT_ROOM 4096

/* Returns an empty table without much room. */
static GArray *events_shrink(GArray *events, size_t n_had)
{
        if (events->len || n_had <= KEPT_ROOM)
                return events;
        g_array_unref(events);
        return g_array_new(FALSE, FALSE, sizeof(NettraceQueued));
}

/* Frees the taken events, including the one returned last. */
static void queue_drop_taken(NettraceQueue *queue)
{
        const size_t n_had = queue->events->len;

        g_array_remove_range(queue->events, 0, (guint)queue->n_taken);
        queue->n_bytes -= queue->n_taken * sizeof(NettraceQueued);
        queue->n_ready -= queue->n_taken;
        queue->n_taken = 0;
        g_array_remove_range(queue->losses, 0, (guint)queue->n_losses_taken);
        queue->n_bytes -= queue->n_losses_taken * sizeof(StreamGap);
        queue->n_losses_taken = 0;
        queue->events = events_shrink(queue->events, n_had);
        if (!queue->events->len) {
                g_array_set_size(queue->scratch, 0);
                queue->scratch = events_shrink(queue->scratch, n_had);
        }
}

/* The returned events keep their chunks until the next call. */
static void queue_release_taken(NettraceQueue *queue)
{
        if (queue->n_taken && queue_at(queue, queue->n_taken - 1)->chunk) {
                nettrace_queue_release_chunk(queue, queue_at(queue, queue->n_taken - 1)->chunk);
                queue_at(queue, queue->n_taken - 1)->chunk = NULL;
        }
}

void nettrace_queue_deinit(NettraceQueue *queue)
{
        size_t i;

        queue_release_taken(queue);
        for (i = queue->n_taken; i < queue->events->len; i++)
                nettrace_queue_release_chunk(queue, queue_at(queue, i)->chunk);
        g_array_unref(queue->events);
        g_array_unref(queue->scratch);
        g_array_unref(queue->losses);
}

void nettrace_queue_add(NettraceQueue *queue, const NettraceQueued *event)
{
        g_array_append_vals(queue->events, event, 1);
        event->chunk->n_references++;
        queue->n_bytes += sizeof(*event);
        queue->earliest = MIN(queue->earliest, event->time);
        queue->latest = MAX(queue->latest, event->time);
}

/* Makes LOSS cover both. */
static void loss_extend(StreamGap *loss, const StreamGap *other)
{
        loss->begin = MIN(loss->begin, other->begin);
        loss->end = MAX(loss->end, other->end);
        loss->count = loss->count == GAP_COUNT_UNKNOWN || other->count == GAP_COUNT_UNKNOWN
                              ? GAP_COUNT_UNKNOWN
                              : loss->count + other->count;
}

void nettrace_queue_add_loss(NettraceQueue *queue, const StreamGap *loss)
{
        if (queue->losses->len >= queue->n_losses_taken + NETTRACE_MAX_LOSSES) {
                loss_extend(queue_loss(queue, queue->losses->len - 1), loss);
                return;
        }
        g_array_append_vals(queue->losses, loss, 1);
        queue->n_bytes += sizeof(*loss);
}

/*
 * Merges the two runs [0, n_a) and [n_a, n) of EVENTS. The first run is copied out, so that its
 * events are not overwritten before they are read.
 */
static void merge_runs(NettraceQueued *events, size_t n_a, size_t n, NettraceQueued *scratch)
{
        size_t a = 0, b = n_a, to = 0;

        /* Events already in place stay there: usually one thread's events follow another's. */
        while (to < n_a && events[to].time <= events[n_a].time)
                to++;
        if (to == n_a)
                return;
        n_a -= to;
        memcpy(scratch, events + to, n_a * sizeof(*events));
        while (a < n_a && b < n)
                events[to++] = events[b].time < scratch[a].time ? events[b++] : scratch[a++];
        memcpy(events + to, scratch + a, (n_a - a) * sizeof(*events));
}

/* The end of the run that begins at FROM: times do not decrease within a run. */
static size_t run_end(const NettraceQueued *events, size_t from, size_t n)
{
        size_t i = from + 1;

        while (i < n && events[i - 1].time <= events[i].time)
                i++;
        return MIN(i, n);
}

/*
 * Sorts by time, stable. There are few runs: each has the events of one thread and one flush of the
 * runtime.
 */
static void sort_events(NettraceQueued *events, size_t n, GArray *scratch)
{
        g_autoptr(GArray) ends = g_array_new(FALSE, FALSE, sizeof(size_t));
        size_t at = 0;

        while (at < n) {
                at = run_end(events, at, n);
                g_array_append_val(ends, at);
        }
        g_array_set_size(scratch, ends->len > 1 ? (guint)n : 0);
        while (ends->len > 1) {
                guint i, n_ends = 0;
                size_t begin = 0;

                for (i = 0; i < ends->len; i += 2) {
                        size_t middle = g_array_index(ends, size_t, i), end = middle;

                        if (i + 1 < ends->len) {
                                end = g_array_index(ends, size_t, i + 1);
                                merge_runs(events + begin, middle - begin, end - begin,
                                           (NettraceQueued *)(void *)scratch->data);
                        }
                        g_array_index(ends, size_t, n_ends++) = end;
                        begin = end;
                }
                g_array_set_size(ends, n_ends);
        }
}

/* The index of the first event, from N_READY on, that is not older than TIME. */
static size_t queue_lower_bound(const NettraceQueue *queue, uint64_t time)
{
        size_t low = queue->n_ready, high = queue->events->len;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (queue_at(queue, middle)->time < time)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static int compare_losses(const void *a, const void *b)
{
        const StreamGap *x = a, *y = b;

        return (x->end > y->end) - (x->end < y->end);
}

static void queue_make_ready(NettraceQueue *queue, uint64_t time, bool is_end)
{
        size_t n = queue->events->len;

        if (n > queue->n_ready && (queue->earliest < time || is_end)) {
                sort_events(queue_at(queue, queue->n_ready), n - queue->n_ready, queue->scratch);
                queue->n_ready = is_end ? n : queue_lower_bound(queue, time);
                queue->earliest =
                        queue->n_ready < n ? queue_at(queue, queue->n_ready)->time : UINT64_MAX;
        }
        g_array_sort(queue->losses, compare_losses);
        queue->horizon = time;
}

uint64_t nettrace_queue_waiting(const NettraceQueue *queue)
{
        return queue->n_ready < queue->events->len ? queue->latest : 0;
}

void nettrace_queue_advance(NettraceQueue *queue, uint64_t time)
{
        if (time <= queue->horizon)
                return;
        queue_release_taken(queue);
        queue_drop_taken(queue);
        queue_make_ready(queue, time, false);
}

void nettrace_queue_flush(NettraceQueue *queue)
{
        queue_release_taken(queue);
        queue_drop_taken(queue);
        queue_make_ready(queue, UINT64_MAX, true);
}

/* Losses that end at the same time are merged into the first one. */
static void queue_take_loss(NettraceQueue *queue, StreamGap *ret_loss)
{
        StreamGap loss = *queue_loss(queue, queue->n_losses_taken++);

        while (queue->n_losses_taken < queue->losses->len) {
                const StreamGap *next = queue_loss(queue, queue->n_losses_taken);

                if (next->end != loss.end)
                        break;
                loss_extend(&loss, next);
                queue->n_losses_taken++;
        }
        /* The loss was detected after later events were delivered. */
        if (loss.end <= queue->last_end)
                loss.end = queue->last_end + 1;
        queue->last_end = loss.end;
        *ret_loss = loss;
}

NettraceQueueItem nettrace_queue_next(NettraceQueue *queue, const NettraceQueued **ret_event,
                                      StreamGap *ret_loss)
{
        const StreamGap *loss = NULL;

        queue_release_taken(queue);
        if (queue->n_losses_taken < queue->losses->len) {
                loss = queue_loss(queue, queue->n_losses_taken);
                if (loss->end > queue->horizon ||
                    (queue->n_taken < queue->n_ready &&
                     queue_at(queue, queue->n_taken)->time < loss->end))
                        loss = NULL;
        }
        if (loss) {
                queue_take_loss(queue, ret_loss);
                return NETTRACE_QUEUE_LOSS;
        }
        if (queue->n_taken == queue->n_ready)
                return NETTRACE_QUEUE_NONE;
        *ret_event = queue_at(queue, queue->n_taken++);
        return NETTRACE_QUEUE_EVENT;
}

const uint8_t *nettrace_queued_payload(const NettraceQueued *event)
{
        return event->chunk->bytes + event->offset;
}
