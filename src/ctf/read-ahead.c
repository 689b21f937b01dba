/* SPDX-License-Identifier: MIT */
#include "ctf/read-ahead.h"

#include "util/ahead.h"

#include <string.h>

/* Batches are small enough to stay in the caches of the processors on their way. */
#define ITEMS_A_BATCH 256
#define N_BATCHES     4
/* Bytes for the values of a batch. An event that needs more gets as many. */
#define BYTES_A_BATCH (128u << 10)
/* Bytes of a packet that take as long as one item, if none of its events is wanted. */
#define BYTES_AN_ITEM 64

struct CtfReadAhead {
        CtfReader *reader;      /* borrowed */
        CtfDataStream *pending; /* borrowed: its item did not fit into the batch before */
        CtfReadBatch batches[N_BATCHES];
        Ahead *ahead; /* owned */
};

/* The most bytes that the values of the event of STREAM take. */
static size_t event_size(const CtfDataStream *stream)
{
        size_t n_bytes = (size_t)(stream->cursor.at - stream->context_at) / 8 + 1;

        return ctf_layout_decode_size(stream->event, stream->slots) + n_bytes;
}

/* Makes room for SIZE bytes. False if what is in the batch would move. */
static bool batch_reserve(CtfReadBatch *batch, size_t size)
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

/* What lies in the stream's window is copied: the stream reads on. */
static void batch_keep(CtfReadBatch *batch, Value *value, size_t size)
{
        uintptr_t offset = (uintptr_t)value->data - (uintptr_t)batch->bytes;

        if (!size || offset < batch->n_allocated)
                return;
        value->data = memcpy(batch->bytes + batch->n_bytes, value->data, size);
        batch->n_bytes += size;
}

static void batch_keep_record(CtfReadBatch *batch, Record *record)
{
        unsigned i;

        batch_keep(batch, &record->program, record->program.n);
        for (i = 0; i < record->event->n_fields; i++)
                batch_keep(batch, &record->values[i], record_value_size(record, i));
}

/* False if there is no room left. */
static bool batch_add_event(CtfReadBatch *batch, CtfDataStream *stream, CtfReadItem *item)
{
        DecodeScratch scratch;
        size_t size;

        if (!stream->event->event || !stream->has_clock) {
                item->outcome = stream->has_clock ? CTF_DECODE_SKIPPED : CTF_DECODE_NO_CLOCK;
                return true;
        }
        size = event_size(stream);
        if (!batch_reserve(batch, size))
                return false;
        /* It has what it will reserve, so it is not moved. */
        scratch = (DecodeScratch){.bytes = batch->bytes + batch->n_bytes, .n_allocated = size};
        item->outcome = ctf_data_stream_decode(stream, &scratch, &item->record);
        if (item->outcome != CTF_DECODE_RECORD)
                return true;
        batch->n_bytes += scratch.n_bytes;
        batch_keep_record(batch, &item->record);
        return true;
}

/* False if there is no room left. */
static bool batch_add(CtfReadBatch *batch, CtfDataStream *stream)
{
        CtfReadItem *item = &batch->items[batch->n_items];
        const CtfPacket *packet = &stream->packet;

        item->stream = stream;
        item->user = stream->user;
        item->type = stream->item;
        item->time = stream->time;
        item->order = stream->order;
        batch->weight++;
        switch (item->type) {
        case CTF_ITEM_EVENT:
                if (!batch_add_event(batch, stream, item))
                        return false;
                break;
        case CTF_ITEM_DISCARDED_EVENTS:
        case CTF_ITEM_DISCARDED_PACKETS:
                item->gap = stream->gap;
                break;
        case CTF_ITEM_PACKET_BEGIN:
                item->has_time = packet->has_begin;
                break;
        case CTF_ITEM_PACKET_END:
                item->has_time = packet->has_end;
                batch->weight += packet->content_size / 8 / BYTES_AN_ITEM;
                break;
        case CTF_ITEM_END:
        case CTF_ITEM_NONE:
                break;
        }
        batch->n_items++;
        return true;
}

/* For Ahead. */
static bool read_ahead_fill(void *data, unsigned number)
{
        CtfReadAhead *ahead = data;
        CtfReadBatch *batch = &ahead->batches[number];

        batch->result = CTF_READ_ITEM;
        batch->n_items = batch->n_bytes = batch->weight = 0;
        while (batch->n_items < ITEMS_A_BATCH && batch->weight < ITEMS_A_BATCH) {
                CtfDataStream *stream = g_steal_pointer(&ahead->pending);

                if (!stream)
                        batch->result = ctf_reader_next(ahead->reader, &stream, &batch->error);
                if (batch->result != CTF_READ_ITEM)
                        break;
                if (!batch_add(batch, stream)) {
                        ahead->pending = stream;
                        break;
                }
        }
        batch->n_read = ctf_reader_n_read(ahead->reader);
        return batch->result == CTF_READ_ITEM;
}

CtfReadAhead *ctf_read_ahead_new(CtfReader *reader)
{
        CtfReadAhead *ahead = g_new0(CtfReadAhead, 1);
        size_t i;

        ahead->reader = reader;
        for (i = 0; i < N_BATCHES; i++)
                ahead->batches[i].items = g_new(CtfReadItem, ITEMS_A_BATCH);
        ahead->ahead = ahead_new("read", N_BATCHES, read_ahead_fill, ahead);
        return ahead;
}

void ctf_read_ahead_free(CtfReadAhead *ahead)
{
        size_t i;

        if (!ahead)
                return;
        ahead_free(ahead->ahead);
        for (i = 0; i < N_BATCHES; i++) {
                g_clear_error(&ahead->batches[i].error);
                g_free(ahead->batches[i].items);
                g_free(ahead->batches[i].bytes);
        }
        g_free(ahead);
}

CtfReadBatch *ctf_read_ahead_next(CtfReadAhead *ahead)
{
        return &ahead->batches[ahead_next(ahead->ahead)];
}
