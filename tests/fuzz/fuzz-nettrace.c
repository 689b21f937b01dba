/* SPDX-License-Identifier: MIT */

/*
 * A nettrace stream: u8 how it is made, u8 bytes that are pushed at a time; then the stream itself,
 * or its blocks, each as u8 kind, u16 size and content.
 */

#include "fuzz.h"
#include "nettrace/reader.h"
#include "values.h"

#include <string.h>

enum {
        MADE_RAW,
        MADE_OF_BLOCKS, /* of version 6; the others are as raw */
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

static unsigned take_items(NettraceReader *reader, uint64_t *last_end)
{
        NettraceItem item;
        unsigned n = 0;
        Record record;
        StreamGap gap;

        while ((item = nettrace_reader_next(reader, &record, &gap)) != NETTRACE_ITEM_NONE) {
                n++;
                if (item == NETTRACE_ITEM_RECORD) {
                        fuzz_check_record(&record);
                        FUZZ_REQUIRE(record.process.pid > 0);
                } else {
                        FUZZ_REQUIRE(gap.begin <= gap.end && gap.end > *last_end);
                        *last_end = gap.end;
                }
        }
        return n;
}

static void take_sample(void *data, const NettraceSample *sample)
{
        uint64_t *sum = data;
        size_t i;

        FUZZ_REQUIRE(sample->pid > 0 && sample->time <= INT64_MAX);
        for (i = 0; i < sample->n_addresses; i++)
                *sum += sample->addresses[i];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);
        FuzzInput input = {data, size};
        uint64_t how = fuzz_take(&input, 1), step = fuzz_take(&input, 1), last_end = 0;
        g_autoptr(GByteArray) stream = make_stream(&input, how);
        g_autoptr(GError) error = NULL;
        uint64_t sum = 0;
        unsigned n = 0;
        size_t at;

        nettrace_reader_take_samples(reader, take_sample, &sum);
        if (step == PUSHED_AS_WHOLE)
                step = MAX(stream->len, 1);
        for (at = 0; !error && at < stream->len; at += step) {
                g_autofree uint8_t *part =
                        g_memdup2(stream->data + at, MIN(step, stream->len - at));
                bool ok = nettrace_reader_push(reader, part, MIN(step, stream->len - at), &error);

                FUZZ_REQUIRE(ok == !error);
                n += take_items(reader, &last_end);
        }
        nettrace_reader_finish(reader);
        n += take_items(reader, &last_end);
        /* An event, which has two bytes, is a record or a gap, and ends a gap. */
        FUZZ_REQUIRE(n <= size + 1);
        nettrace_reader_free(reader);
        return 0;
}
