/* SPDX-License-Identifier: MIT */
#include "nettrace/read-ahead.h"

#include "util/ahead.h"

#include <string.h>

/* Batches are small enough to stay in the caches of the processors on their way. */
#define ITEMS_A_BATCH 256
#define N_BATCHES     4
/* Bytes for the values of a batch. A record that needs more gets as many. */
#define BYTES_A_BATCH (128u << 10)
/* Pieces of the file for a batch: where little of it is wanted, progress is still reported. */
#define PIECES_A_BATCH 8

struct NettraceReadAhead {
        NettraceFile *file;        /* borrowed */
        NettraceReader *reader;    /* borrowed */
        NettraceFileResult result; /* of the file's last piece */
        NettraceReadItem pending;  /* an item that did not fit into the batch before */
        bool has_pending;
        NettraceReadBatch batches[N_BATCHES];
        Ahead *ahead; /* owned */
};

static size_t record_size(const Record *record)
{
        size_t size = record->program.n;
        unsigned i;

        for (i = 0; i < record->event->n_fields; i++)
                size += record_value_size(record, i);
        return size;
}

/* Makes room for SIZE bytes. False if what is in the batch would move. */
static bool batch_reserve(NettraceReadBatch *batch, size_t size)
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

static void batch_keep(NettraceReadBatch *batch, Value *value, size_t size)
{
        if (!size)
                return;
        value->data = memcpy(batch->bytes + batch->n_bytes, value->data, size);
        batch->n_bytes += size;
}

/* Moves what the record refers to into the batch. False if there is no room left. */
static bool batch_keep_record(NettraceReadBatch *batch, Record *record)
{
        unsigned i;

        if (!batch_reserve(batch, record_size(record)))
                return false;
        batch_keep(batch, &record->program, record->program.n);
        for (i = 0; i < record->event->n_fields; i++)
                batch_keep(batch, &record->values[i], record_value_size(record, i));
        return true;
}

/* Writes the next item into ITEM. False: there is none now. */
static bool read_ahead_next_item(NettraceReadAhead *ahead, NettraceReadItem *item)
{
        if (ahead->has_pending)
                *item = ahead->pending;
        else
                item->type = nettrace_reader_next(ahead->reader, &item->record, &item->gap);
        ahead->has_pending = false;
        return item->type != NETTRACE_ITEM_NONE;
}

/* Takes items until the batch is full (true), or the reader is empty. */
static bool read_ahead_take(NettraceReadAhead *ahead, NettraceReadBatch *batch)
{
        NettraceReadItem *item = &batch->items[batch->n_items];

        while (batch->n_items < ITEMS_A_BATCH && read_ahead_next_item(ahead, item)) {
                if (item->type == NETTRACE_ITEM_RECORD &&
                    !batch_keep_record(batch, &item->record)) {
                        ahead->pending = *item;
                        ahead->has_pending = true;
                        return true;
                }
                batch->n_items++;
                item++;
        }
        return batch->n_items == ITEMS_A_BATCH;
}

/* For Ahead. */
static bool read_ahead_fill(void *data, unsigned number)
{
        NettraceReadAhead *ahead = data;
        NettraceReadBatch *batch = &ahead->batches[number];
        unsigned n_pieces = 0;
        bool is_full;

        batch->n_items = batch->n_bytes = 0;
        while (!(is_full = read_ahead_take(ahead, batch)) && n_pieces++ < PIECES_A_BATCH &&
               ahead->result == NETTRACE_FILE_MORE)
                ahead->result = nettrace_file_push(ahead->file, ahead->reader, &batch->error);
        batch->result = is_full ? NETTRACE_FILE_MORE : ahead->result;
        batch->header = nettrace_reader_header(ahead->reader);
        batch->horizon = nettrace_reader_horizon(ahead->reader);
        batch->n_read = ahead->file->n_read;
        nettrace_reader_report(ahead->reader, &batch->report);
        return batch->result == NETTRACE_FILE_MORE;
}

NettraceReadAhead *nettrace_read_ahead_new(NettraceFile *file, NettraceReader *reader)
{
        NettraceReadAhead *ahead = g_new0(NettraceReadAhead, 1);
        unsigned i;

        ahead->file = file;
        ahead->reader = reader;
        ahead->result = NETTRACE_FILE_MORE;
        for (i = 0; i < N_BATCHES; i++)
                ahead->batches[i].items = g_new(NettraceReadItem, ITEMS_A_BATCH);
        ahead->ahead = ahead_new("read", N_BATCHES, read_ahead_fill, ahead);
        return ahead;
}

void nettrace_read_ahead_free(NettraceReadAhead *ahead)
{
        unsigned i;

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

NettraceReadBatch *nettrace_read_ahead_next(NettraceReadAhead *ahead)
{
        return &ahead->batches[ahead_next(ahead->ahead)];
}
