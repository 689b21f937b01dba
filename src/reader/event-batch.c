/* SPDX-License-Identifier: MIT */
#include "reader/event-source.h"

#include <string.h>

/* Bytes for the values of a batch. An event that needs more gets more. */
#define BYTES_A_BATCH (128u << 10)

EventItem *event_batch_add(EventBatch *batch, EventItemType type, uint32_t stream,
                           const StreamIdentity *identity)
{
        EventItem *item = &batch->items[batch->n_items++];

        item->type = type;
        item->stream = stream;
        item->identity = identity;
        return item;
}

void event_batch_add_time(EventBatch *batch, EventItemType type, uint32_t stream,
                          const StreamIdentity *identity, uint64_t time)
{
        event_batch_add(batch, type, stream, identity)->time = time;
}

bool event_batch_reserve(EventBatch *batch, size_t size)
{
        if (batch->n_allocated - batch->n_bytes >= size)
                return true;
        if (batch->n_bytes)
                return false;
        g_free(batch->bytes);
        batch->n_allocated = MAX(size, BYTES_A_BATCH);
        batch->bytes = g_malloc(batch->n_allocated);
        return true;
}

size_t event_batch_record_size(const Record *record)
{
        size_t size = record->program.n;
        unsigned i;

        for (i = 0; record->event && i < record->event->n_fields; i++)
                size += record_value_size(record, i);
        return size;
}

static void event_batch_keep_value(EventBatch *batch, Value *value, size_t size)
{
        uintptr_t offset = (uintptr_t)value->data - (uintptr_t)batch->bytes;

        if (!size || offset < batch->n_allocated)
                return;
        value->data = memcpy(batch->bytes + batch->n_bytes, value->data, size);
        batch->n_bytes += size;
}

void event_batch_keep(EventBatch *batch, Record *record)
{
        unsigned i;

        event_batch_keep_value(batch, &record->program, record->program.n);
        for (i = 0; record->event && i < record->event->n_fields; i++)
                event_batch_keep_value(batch, &record->values[i], record_value_size(record, i));
}
