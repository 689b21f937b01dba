/* SPDX-License-Identifier: MIT */
#include "support/nettrace-stream.h"

#include <string.h>

enum {
        FREQUENCY = 1000000000,
        FLAG_SORTED = 0x40,
};

void nettrace_put(GByteArray *out, uint64_t value, unsigned n)
{
        unsigned i;

        for (i = 0; i < n; i++) {
                uint8_t byte = i < 8 ? (uint8_t)(value >> 8 * i) : 0;

                g_byte_array_append(out, &byte, 1);
        }
}

void nettrace_put_bytes(GByteArray *out, const void *bytes, size_t n)
{
        g_byte_array_append(out, bytes, (guint)n);
}

void nettrace_put_varint(GByteArray *out, uint64_t value)
{
        for (; value >= 128; value >>= 7)
                nettrace_put(out, value | 128, 1);
        nettrace_put(out, value, 1);
}

static void put_wide(GByteArray *out, const char *text)
{
        for (; *text; text++)
                nettrace_put(out, (uint8_t)*text, 2);
        nettrace_put(out, 0, 2);
}

void nettrace_put_text(GByteArray *out, const char *text)
{
        nettrace_put_varint(out, strlen(text));
        nettrace_put_bytes(out, text, strlen(text));
}

/* Writes an object of version 4; with a size if it is a block. */
static void put_object(GByteArray *out, const char *name, const GByteArray *content, bool is_block)
{
        nettrace_put(out, 0x010505, 3);
        nettrace_put(out, is_block ? 2 : 4, 4);
        nettrace_put(out, is_block ? 2 : 4, 4);
        nettrace_put(out, strlen(name), 4);
        nettrace_put_bytes(out, name, strlen(name));
        nettrace_put(out, 6, 1);
        if (is_block) {
                nettrace_put(out, content->len, 4);
                while (out->len % 4)
                        nettrace_put(out, 0, 1);
        }
        nettrace_put_bytes(out, content->data, content->len);
        nettrace_put(out, 6, 1);
}

/* A block of version 4 or 6, which takes over CONTENT. */
void nettrace_put_block(GByteArray *out, unsigned version, NettraceBlockKind kind,
                        GByteArray *content)
{
        static const char *const NAMES[] = {
                [NETTRACE_BLOCK_TRACE] = "Trace",
                [NETTRACE_BLOCK_EVENT] = "EventBlock",
                [NETTRACE_BLOCK_METADATA] = "MetadataBlock",
                [NETTRACE_BLOCK_SEQUENCE_POINT] = "SPBlock",
                [NETTRACE_BLOCK_STACK] = "StackBlock",
        };

        if (version < 6) {
                put_object(out, NAMES[kind], content, kind != NETTRACE_BLOCK_TRACE);
        } else {
                nettrace_put(out, content->len, 3);
                nettrace_put(out, kind, 1);
                nettrace_put_bytes(out, content->data, content->len);
        }
        g_byte_array_unref(content);
}

static void put_realtime(GByteArray *out)
{
        static const uint16_t TIME[] = {2026, 11, 0, 22, 6, 3, 8, 71};
        unsigned i;

        for (i = 0; i < G_N_ELEMENTS(TIME); i++)
                nettrace_put(out, TIME[i], 2);
}

/* Writes the header and the trace's object. */
GByteArray *nettrace_stream_new(unsigned version)
{
        GByteArray *out = g_byte_array_new(), *trace = g_byte_array_new();

        nettrace_put_bytes(out, "Nettrace", 8);
        put_realtime(trace);
        nettrace_put(trace, NETTRACE_TEST_BEGIN, 8);
        nettrace_put(trace, FREQUENCY, 8);
        nettrace_put(trace, 8, 4);
        if (version < 6) {
                nettrace_put(out, 20, 4);
                nettrace_put_bytes(out, "!FastSerialization.1", 20);
                nettrace_put(trace, NETTRACE_TEST_PID, 4);
                nettrace_put(trace, 2, 4);
                nettrace_put(trace, 1000000, 4);
        } else {
                nettrace_put(out, 0, 4);
                nettrace_put(out, version, 4);
                nettrace_put(out, 0, 4);
                nettrace_put(trace, 1, 4);
                nettrace_put_text(trace, "HardwareThreadCount");
                nettrace_put_text(trace, "2");
        }
        nettrace_put_block(out, version, NETTRACE_BLOCK_TRACE, trace);
        return out;
}

void nettrace_stream_end(GByteArray *out, unsigned version)
{
        nettrace_put(out, version < 6, version < 6 ? 1 : 4);
}

GByteArray *nettrace_block_new(bool is_compressed)
{
        GByteArray *block = g_byte_array_new();

        nettrace_put(block, 20, 2);
        nettrace_put(block, is_compressed, 2);
        nettrace_put(block, 0, 8);
        nettrace_put(block, UINT64_MAX, 8);
        return block;
}

/* Id 1 is 160/0 of the runtime, id 2 an event of another provider, id 3 a sample. */
void nettrace_put_metadata(GByteArray *out, unsigned version)
{
        static const struct {
                const char *provider;
                uint32_t event;
        } ROWS[] = {
                {"Microsoft-Windows-DotNETRuntime", 160},
                {"Other", 160},
                {"Microsoft-DotNETCore-SampleProfiler", 0},
        };
        GByteArray *block = version < 6 ? nettrace_block_new(true) : g_byte_array_new();
        unsigned i;

        if (version >= 6)
                nettrace_put(block, 0, 2);
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autoptr(GByteArray) row = g_byte_array_new();

                if (version < 6) {
                        nettrace_put(row, i + 1, 4);
                        put_wide(row, ROWS[i].provider);
                        nettrace_put(row, ROWS[i].event, 4);
                        put_wide(row, "");
                        nettrace_put(row, 0x2000000000, 8);
                        nettrace_put(row, 0, 4);
                        nettrace_put(row, 4, 4);
                        nettrace_put(row, 0, 4);
                        nettrace_put(block, 0x80, 1);
                        nettrace_put_varint(block, 0);
                        nettrace_put_varint(block, row->len);
                } else {
                        nettrace_put_varint(row, i + 1);
                        nettrace_put_text(row, ROWS[i].provider);
                        nettrace_put_varint(row, ROWS[i].event);
                        nettrace_put_text(row, "Name");
                        nettrace_put(row, 1, 2); /* field */
                        nettrace_put(row, 3, 2);
                        nettrace_put_text(row, "F");
                        nettrace_put(row, 12, 1);
                        nettrace_put(row, 11, 2); /* optional: keywords, version */
                        nettrace_put(row, 3, 1);
                        nettrace_put(row, 0x2000000000, 8);
                        nettrace_put(row, 9, 1);
                        nettrace_put(row, 0, 1);
                        nettrace_put(block, row->len, 2);
                }
                nettrace_put_bytes(block, row->data, row->len);
        }
        nettrace_put_block(out, version, NETTRACE_BLOCK_METADATA, block);
}

void nettrace_put_event(GByteArray *block, uint32_t id, uint32_t sequence_step, uint64_t thread,
                        uint64_t time_step, bool is_sorted, uint64_t value)
{
        nettrace_put(block, NETTRACE_TEST_FLAGS | (is_sorted ? FLAG_SORTED : 0), 1);
        nettrace_put_varint(block, id);
        nettrace_put_varint(block, sequence_step);
        nettrace_put_varint(block, thread);
        nettrace_put_varint(block, UINT32_MAX); /* processor */
        nettrace_put_varint(block, thread);
        nettrace_put_varint(block, time_step);
        nettrace_put_varint(block, NETTRACE_TEST_PAYLOAD);
        nettrace_put(block, value, 8);
        nettrace_put(block, 0, 2);
}

void nettrace_put_one(GByteArray *out, unsigned version, const NettraceTestEvent *one)
{
        GByteArray *block = nettrace_block_new(true);

        nettrace_put_event(block, one->id, one->sequence - 1, one->thread, one->time,
                           one->is_sorted, one->time);
        nettrace_put_block(out, version, NETTRACE_BLOCK_EVENT, block);
}

void nettrace_put_point(GByteArray *out, unsigned version, uint64_t time, uint32_t flags,
                        const NettraceTestPoint *entries, unsigned n)
{
        GByteArray *block = g_byte_array_new();
        unsigned i;

        nettrace_put(block, time, 8);
        if (version >= 6)
                nettrace_put(block, flags, 4);
        nettrace_put(block, n, 4);
        for (i = 0; i < n; i++) {
                if (version >= 6) {
                        nettrace_put_varint(block, entries[i].thread);
                        nettrace_put_varint(block, entries[i].sequence);
                } else {
                        nettrace_put(block, entries[i].thread, 8);
                        nettrace_put(block, entries[i].sequence, 4);
                }
        }
        nettrace_put_block(out, version, NETTRACE_BLOCK_SEQUENCE_POINT, block);
}

/* Version 6 refers to threads by index, not by id. */
void nettrace_put_threads(GByteArray *out, unsigned version, const uint64_t *indexes, unsigned n)
{
        GByteArray *block;
        unsigned i;

        if (version < 6)
                return;
        block = g_byte_array_new();
        for (i = 0; i < n; i++) {
                g_autoptr(GByteArray) row = g_byte_array_new();

                nettrace_put_varint(row, indexes[i]);
                nettrace_put(row, 1, 1); /* name */
                nettrace_put_text(row, "a thread");
                nettrace_put(row, 2, 1);
                nettrace_put_varint(row, NETTRACE_TEST_PID);
                nettrace_put(row, 3, 1);
                nettrace_put_varint(row, 5000 + indexes[i]);
                nettrace_put(block, row->len, 2);
                nettrace_put_bytes(block, row->data, row->len);
        }
        nettrace_put_block(out, version, NETTRACE_BLOCK_THREAD, block);
}

GByteArray *nettrace_stream_begin(unsigned version)
{
        static const uint64_t INDEXES[] = {7, 8, 9};
        GByteArray *out = nettrace_stream_new(version);

        nettrace_put_metadata(out, version);
        nettrace_put_threads(out, version, INDEXES, G_N_ELEMENTS(INDEXES));
        return out;
}
