/* SPDX-License-Identifier: MIT */

/*
 * A nettrace stream: u8 form of the input, u8 size of the pushed pieces; then the stream itself, or
 * its blocks, each as u8 kind, u16 size and content. An event reader of the file has the same
 * items.
 */

#include "fuzz.h"
#include "nettrace/reader.h"
#include "reader/event-reader.h"
#include "values.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
        MADE_RAW,
        MADE_OF_BLOCKS, /* of version 6; all other values: raw */
        PUSHED_AS_WHOLE = 0,
};

static void put_number(GByteArray *out, uint64_t value, unsigned n)
{
        unsigned i;

        for (i = 0; i < n; i++) {
                uint8_t byte = (uint8_t)(value >> 8 * i);

                g_byte_array_append(out, &byte, 1);
        }
}

static GByteArray *make_stream(FuzzInput *input, uint64_t how)
{
        GByteArray *out = g_byte_array_new();

        if (how != MADE_OF_BLOCKS) {
                g_byte_array_append(out, input->at, (guint)input->n);
                return out;
        }
        g_byte_array_append(out, (const uint8_t *)"Nettrace", 8);
        put_number(out, 0, 4);
        put_number(out, 6, 8);
        while (input->n) {
                uint64_t kind = fuzz_take(input, 1);
                FuzzInput content = fuzz_take_part(input, fuzz_take(input, 2));

                put_number(out, content.n, 3);
                put_number(out, kind, 1);
                g_byte_array_append(out, content.at, (guint)content.n);
        }
        return out;
}

typedef struct Items {
        unsigned n;
        uint64_t digest;
        uint64_t last_end; /* end of the last gap */
} Items;

static void items_add(Items *items, NettraceItem type, const Record *record, const StreamGap *gap)
{
        items->n++;
        if (type == NETTRACE_ITEM_RECORD) {
                FUZZ_REQUIRE(record->process.pid > 0 || event_is_compact(record->event));
                fuzz_digest_record(&items->digest, record);
        } else {
                FUZZ_REQUIRE(gap->begin <= gap->end && gap->end > items->last_end);
                items->last_end = gap->end;
                fuzz_digest(&items->digest, gap->begin);
                fuzz_digest(&items->digest, gap->end);
                fuzz_digest(&items->digest, gap->count);
        }
}

static void take_items(NettraceReader *reader, Items *items)
{
        NettraceItem item;
        Record record;
        StreamGap gap;

        while ((item = nettrace_reader_next(reader, &record, &gap)) != NETTRACE_ITEM_NONE)
                items_add(items, item, &record, &gap);
}

/* Returns false if the stream does not begin with nettrace's signature. */
static bool read_file(const GByteArray *stream, Items *items)
{
        int fd = memfd_create("fuzz", MFD_CLOEXEC);
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
        const EventBatch *batch;
        EventReader *reader;
        size_t i;

        FUZZ_REQUIRE(fd >= 0 && write(fd, stream->data, stream->len) == (ssize_t)stream->len);
        reader = event_reader_new(path, EVENT_USE_ALL, NULL);
        close(fd);
        if (!reader)
                return false;
        do {
                batch = event_reader_next(reader);
                for (i = 0; i < batch->n_items; i++) {
                        const EventItem *item = &batch->items[i];

                        if (item->type == EVENT_ITEM_RECORD)
                                items_add(items, NETTRACE_ITEM_RECORD, &item->record, NULL);
                        else if (item->type == EVENT_ITEM_GAP)
                                items_add(items, NETTRACE_ITEM_GAP, NULL, &item->gap);
                }
        } while (batch->result == EVENT_READ_MORE);
        FUZZ_REQUIRE((batch->result == EVENT_READ_ERROR) == (batch->error != NULL));
        event_reader_free(reader);
        return true;
}

static void take_sample(void *data, const NettraceSample *sample)
{
        uint64_t *sum = data;
        size_t i;

        FUZZ_REQUIRE(sample->pid > 0 && sample->time <= INT64_MAX);
        for (i = 0; i < sample->n_addresses; i++)
                *sum += sample->addresses[i];
}

static void take_universal(void *data, const NettraceUniversal *event)
{
        uint64_t *sum = data;
        size_t i;

        FUZZ_REQUIRE(event->record->process.pid >= 0 && event->record->time <= INT64_MAX);
        fuzz_digest_record(sum, event->record);
        for (i = 0; i < event->n_addresses; i++)
                *sum += event->addresses[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);
        FuzzInput input = {data, size};
        uint64_t how = fuzz_take(&input, 1), step = fuzz_take(&input, 1);
        g_autoptr(GByteArray) stream = make_stream(&input, how);
        g_autoptr(GError) error = NULL;
        Items items = {0}, again = {0};
        uint64_t sum = 0;
        size_t at;

        nettrace_reader_take_samples(reader, take_sample, &sum);
        nettrace_reader_take_universal(reader, take_universal, &sum);
        if (step == PUSHED_AS_WHOLE)
                step = MAX(stream->len, 1);
        for (at = 0; !error && at < stream->len; at += step) {
                g_autofree uint8_t *part =
                        g_memdup2(stream->data + at, MIN(step, stream->len - at));
                bool ok = nettrace_reader_push(reader, part, MIN(step, stream->len - at), &error);

                FUZZ_REQUIRE(ok == !error);
                take_items(reader, &items);
        }
        /* A damaged file has no end. */
        if (!error)
                nettrace_reader_finish(reader);
        take_items(reader, &items);
        if (read_file(stream, &again))
                FUZZ_REQUIRE(again.n == items.n && again.digest == items.digest);
        /* Ending a session works even after an error. */
        if (error)
                nettrace_reader_finish(reader);
        take_items(reader, &items);
        /* An event has at least two bytes, and is a record or a gap, and ends a gap. */
        FUZZ_REQUIRE(items.n <= size + 1);
        nettrace_reader_free(reader);
        return 0;
}
