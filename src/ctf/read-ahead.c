/* SPDX-License-Identifier: MIT */
#include "ctf/read-ahead.h"

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
        bool holds_batch; /* the caller has the oldest one that is filled */
        GThread *thread;  /* owned; NULL: there is none */

        GMutex lock; /* of the members below */
        GCond changed;
        guint n_taken;  /* batches that the caller had, and is done with */
        guint n_filled; /* batches that were read */
        bool is_over;   /* nobody wants more */
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
        const Event *event = record->event;
        unsigned i;

        batch_keep(batch, &record->program, record->program.n);
        for (i = 0; i < event->n_fields; i++) {
                Value *value = &record->values[i];
                unsigned size = field_type_element_size(event->fields[i].type);

                if (value->n)
                        batch_keep(batch, value, (size_t)value->n * MAX(size, 1));
        }
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

static void read_ahead_fill(CtfReadAhead *ahead, CtfReadBatch *batch)
{
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
}

/* Waits until a batch can be filled; NULL: nobody wants more. */
static CtfReadBatch *read_ahead_empty_batch(CtfReadAhead *ahead)
{
        CtfReadBatch *batch = NULL;

        g_mutex_lock(&ahead->lock);
        while (!ahead->is_over && ahead->n_filled - ahead->n_taken == N_BATCHES)
                g_cond_wait(&ahead->changed, &ahead->lock);
        if (!ahead->is_over)
                batch = &ahead->batches[ahead->n_filled % N_BATCHES];
        g_mutex_unlock(&ahead->lock);
        return batch;
}

static void read_ahead_hand_over(CtfReadAhead *ahead)
{
        g_mutex_lock(&ahead->lock);
        ahead->n_filled++;
        g_cond_signal(&ahead->changed);
        g_mutex_unlock(&ahead->lock);
}

static gpointer read_ahead_run(gpointer data)
{
        CtfReadAhead *ahead = data;
        CtfReadBatch *batch;
        CtfReadResult result = CTF_READ_ITEM;

        while (result == CTF_READ_ITEM && (batch = read_ahead_empty_batch(ahead))) {
                read_ahead_fill(ahead, batch);
                result = batch->result;
                read_ahead_hand_over(ahead);
        }
        return NULL;
}

CtfReadAhead *ctf_read_ahead_new(CtfReader *reader)
{
        CtfReadAhead *ahead = g_new0(CtfReadAhead, 1);
        size_t i;

        ahead->reader = reader;
        g_mutex_init(&ahead->lock);
        g_cond_init(&ahead->changed);
        for (i = 0; i < N_BATCHES; i++)
                ahead->batches[i].items = g_new(CtfReadItem, ITEMS_A_BATCH);
        if (g_get_num_processors() > 1)
                ahead->thread = g_thread_try_new("read", read_ahead_run, ahead, NULL);
        return ahead;
}

void ctf_read_ahead_free(CtfReadAhead *ahead)
{
        size_t i;

        if (!ahead)
                return;
        g_mutex_lock(&ahead->lock);
        ahead->is_over = true;
        g_cond_signal(&ahead->changed);
        g_mutex_unlock(&ahead->lock);
        if (ahead->thread)
                g_thread_join(ahead->thread);
        for (i = 0; i < N_BATCHES; i++) {
                g_clear_error(&ahead->batches[i].error);
                g_free(ahead->batches[i].items);
                g_free(ahead->batches[i].bytes);
        }
        g_mutex_clear(&ahead->lock);
        g_cond_clear(&ahead->changed);
        g_free(ahead);
}

CtfReadBatch *ctf_read_ahead_next(CtfReadAhead *ahead)
{
        CtfReadBatch *batch;

        g_mutex_lock(&ahead->lock);
        if (ahead->holds_batch) {
                ahead->n_taken++;
                g_cond_signal(&ahead->changed);
        }
        while (ahead->thread && ahead->n_filled == ahead->n_taken)
                g_cond_wait(&ahead->changed, &ahead->lock);
        batch = &ahead->batches[ahead->n_taken % N_BATCHES];
        g_mutex_unlock(&ahead->lock);
        if (!ahead->thread) {
                read_ahead_fill(ahead, batch);
                ahead->n_filled++;
        }
        ahead->holds_batch = true;
        return batch;
}
