/* SPDX-License-Identifier: MIT */
#include "nettrace/error.h"
#include "nettrace/events.h"
#include "nettrace/queue.h"
#include "nettrace/reader.h"

#include "support/nettrace-stream.h"
#include "support/suite.h"

#include <string.h>

/* Appends the read items: "time/value" for a record, "[begin,end]count" for a gap. */
static void take_items(NettraceReader *reader, GString *out)
{
        Record record;
        StreamGap gap;

        for (;;) {
                switch (nettrace_reader_next(reader, &record, &gap)) {
                case NETTRACE_ITEM_NONE:
                        return;
                case NETTRACE_ITEM_RECORD:
                        ck_assert_str_eq(record.event->name, "R2RGetEntryPointStart");
                        ck_assert_int_eq(record.process.pid, NETTRACE_TEST_PID);
                        g_string_append_printf(out, "%u/%u ", (unsigned)record.time,
                                               (unsigned)record_u64(&record, FIELD_MethodID));
                        break;
                case NETTRACE_ITEM_GAP:
                        g_string_append_printf(out, "[%u,%u]%d ", (unsigned)gap.begin,
                                               (unsigned)gap.end, (int)gap.count);
                        break;
                }
        }
}

/* Reads N bytes, STEP at a time. Returns NULL and sets ERROR on failure. */
static char *read_stream(const uint8_t *bytes, size_t n, size_t step, GError **error)
{
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);
        g_autoptr(GString) out = g_string_new(NULL);
        bool ok = true;
        size_t at;

        for (at = 0; ok && at < n; at += step) {
                /* A copy of the exact size, so that the address sanitizer sees a read beyond the
                 * end. */
                g_autofree uint8_t *part = g_memdup2(bytes + at, MIN(step, n - at));

                ok = nettrace_reader_push(reader, part, MIN(step, n - at), error);
                take_items(reader, out);
        }
        nettrace_reader_finish(reader);
        take_items(reader, out);
        nettrace_reader_free(reader);
        return ok ? g_string_free(g_steal_pointer(&out), FALSE) : NULL;
}

static void check_stream(const GByteArray *stream, const char *expected)
{
        g_autofree char *whole = NULL, *split = NULL;
        GError *error = NULL;

        whole = read_stream(stream->data, stream->len, stream->len, &error);
        ck_assert_msg(!error, "%s", error ? error->message : "");
        ck_assert_str_eq(whole, expected);
        split = read_stream(stream->data, stream->len, 1, NULL);
        ck_assert_str_eq(split, expected);
}

static const unsigned VERSIONS[] = {4, 6};

/* Two threads, written one after the other; events after the horizon wait for the end. */
static GByteArray *stream_in_disorder(unsigned version)
{
        static const NettraceTestPoint ENTRIES[] = {{7, 3}, {8, 3}};
        GByteArray *out = nettrace_stream_begin(version), *block = nettrace_block_new(true);

        nettrace_put_event(block, 1, 0, 7, 2000, true, 1);
        nettrace_put_event(block, 1, 0, 7, 10, false, 2);
        nettrace_put_event(block, 2, 0, 7, 10, false, 3);
        nettrace_put_event(block, 1, UINT32_MAX - 2, 8, (uint64_t)-15, false, 4); /* 2005 */
        nettrace_put_event(block, 1, 0, 8, 5, false, 5);                          /* 2010 */
        nettrace_put_event(block, 1, 0, 8, 100, false, 6);                        /* 2110 */
        nettrace_put_block(out, version, NETTRACE_BLOCK_EVENT, block);
        nettrace_put_block(out, version, NETTRACE_BLOCK_STACK, g_byte_array_new());
        nettrace_put_point(out, version, 3000, 0, ENTRIES, G_N_ELEMENTS(ENTRIES));
        nettrace_stream_end(out, version);
        return out;
}

START_TEST(test_order)
{
        g_autoptr(GByteArray) stream = stream_in_disorder(VERSIONS[_i]);

        check_stream(stream, "2000/1 2005/4 2010/2 2010/5 2110/6 ");
}
END_TEST

/* Events, and the expected items. Sequence numbers begin with 1. */
static const struct {
        NettraceTestEvent events[5];
        unsigned n_events;
        uint64_t point; /* time of a sequence point after the events; 0: no point */
        NettraceTestPoint entries[2];
        unsigned n_entries;
        NettraceTestEvent after; /* time 0: no event */
        const char *expected;
} LOSSES[] = {
        {{{1, 1, 7, 2000, true}, {1, 2, 7, 2001, false}}, 2, .expected = "2000/2000 2001/2001 "},
        /* A loss before the first event: the gap begins with the session. */
        {{{1, 806, 7, 2000, true}}, 1, .expected = "[1000,2000]805 2000/2000 "},
        {{{1, 1, 7, 2000, true}, {1, 5, 7, 2050, false}},
         2,
         .expected = "2000/2000 [2000,2050]3 2050/2050 "},
        /* Events of other providers count, too. */
        {{{1, 1, 7, 2000, true}, {2, 2, 7, 2010, false}, {1, 3, 7, 2020, false}},
         3,
         .expected = "2000/2000 2020/2020 "},
        {{{1, 1, 7, 2000, true}, {2, 3, 7, 2010, false}, {1, 4, 7, 2020, false}},
         3,
         .expected = "2000/2000 [2000,2010]1 2020/2020 "},
        /* Each thread has its own sequence; losses that end together are one gap. */
        {{{1, 1, 7, 2000, true}, {1, 1, 8, 2001, false}, {1, 1, 9, 2002, false}},
         3,
         3000,
         {{7, 4}, {8, 2}},
         2,
         .expected = "2000/2000 2001/2001 2002/2002 [2000,3000]4 "},
        /* The number at a sequence point may be lower, and a thread may have no event. */
        {{{1, 1, 7, 2000, true}, {1, 2, 7, 2001, false}},
         2,
         3000,
         {{7, 1}, {8, 0}},
         2,
         .expected = "2000/2000 2001/2001 "},
        {{{1, 1, 7, 2000, true}},
         1,
         3000,
         {{7, 1}, {9, 6}},
         2,
         .expected = "2000/2000 [1000,3000]6 "},
        {{{1, 1, 7, 2000, true}},
         1,
         3000,
         {{7, 4}},
         1,
         {1, 5, 7, 3010, false},
         .expected = "2000/2000 [2000,3000]3 3010/3010 "},
        /* A number that does not grow, without another explanation, may be any loss. */
        {{{1, 1, 7, 2000, true}, {1, 2, 7, 2001, false}, {1, 1, 7, 2002, false}},
         3,
         .expected = "2000/2000 2001/2001 [2001,2002]-1 2002/2002 "},
        /* An id without metadata. */
        {{{1, 1, 7, 2000, true}, {9, 2, 7, 2001, false}}, 2, .expected = "2000/2000 [2001,2001]1 "},
        /* A broken promise: the event is older than a sorted event before it. */
        {{{1, 1, 7, 2000, true}, {1, 1, 8, 1500, false}, {1, 2, 8, 2500, false}},
         3,
         .expected = "[1500,2000]1 2000/2000 2500/2500 "},
        {{{1, 1, 7, 2000, true}},
         1,
         3000,
         {{7, 1}},
         1,
         {1, 2, 7, 2999, false},
         .expected = "2000/2000 [2999,3000]1 "},
};

static GByteArray *stream_with_losses(unsigned version, int i)
{
        GByteArray *out = nettrace_stream_begin(version);
        unsigned j;

        for (j = 0; j < LOSSES[i].n_events; j++)
                nettrace_put_one(out, version, &LOSSES[i].events[j]);
        if (LOSSES[i].point)
                nettrace_put_point(out, version, LOSSES[i].point, 0, LOSSES[i].entries,
                                   LOSSES[i].n_entries);
        if (LOSSES[i].after.time)
                nettrace_put_one(out, version, &LOSSES[i].after);
        nettrace_stream_end(out, version);
        return out;
}

START_TEST(test_loss)
{
        unsigned v;

        for (v = 0; v < G_N_ELEMENTS(VERSIONS); v++) {
                g_autoptr(GByteArray) stream = stream_with_losses(VERSIONS[v], _i);

                check_stream(stream, LOSSES[_i].expected);
        }
}
END_TEST

/* If the process exits, the last sequence point is later than its session. */
START_TEST(test_horizon)
{
        static const NettraceTestEvent EVENT = {1, 1, 7, 2000, true}, NEXT = {1, 2, 7, 3500, false};
        static const NettraceTestPoint ENTRY = {7, 1};
        unsigned version = VERSIONS[_i], goes_on;

        for (goes_on = 0; goes_on < 2; goes_on++) {
                g_autoptr(GByteArray) stream = nettrace_stream_begin(version);
                NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);

                nettrace_put_one(stream, version, &EVENT);
                nettrace_put_point(stream, version, 3000, 0, &ENTRY, 1);
                ck_assert(nettrace_reader_push(reader, stream->data, stream->len, NULL));
                ck_assert_uint_eq(nettrace_reader_horizon(reader), 2000);
                g_byte_array_set_size(stream, 0);
                if (goes_on && version == 6)
                        nettrace_put_one(stream, version, &NEXT);
                else
                        nettrace_stream_end(stream, version);
                ck_assert(nettrace_reader_push(reader, stream->data, stream->len, NULL));
                ck_assert_uint_eq(nettrace_reader_horizon(reader),
                                  goes_on && version == 6 ? 3000 : 2000);
                nettrace_reader_free(reader);
        }
}
END_TEST

/* A thread that a sequence point omits has ended; its id may be reused. */
START_TEST(test_thread_comes_again)
{
        static const NettraceTestEvent EVENTS[] = {{1, 1, 7, 2000, true}, {1, 2, 7, 2001, false}};
        static const NettraceTestEvent AGAIN = {1, 1, 7, 4000, true};
        static const NettraceTestPoint ENTRIES[] = {{8, 0}};
        unsigned v, i;

        for (v = 0; v < G_N_ELEMENTS(VERSIONS); v++) {
                static const uint64_t INDEX = 7;
                g_autoptr(GByteArray) stream = nettrace_stream_begin(VERSIONS[v]);

                for (i = 0; i < G_N_ELEMENTS(EVENTS); i++)
                        nettrace_put_one(stream, VERSIONS[v], &EVENTS[i]);
                nettrace_put_point(stream, VERSIONS[v], 3000, 1, ENTRIES, 1);
                nettrace_put_threads(stream, VERSIONS[v], &INDEX, 1);
                nettrace_put_one(stream, VERSIONS[v], &AGAIN);
                nettrace_stream_end(stream, VERSIONS[v]);
                check_stream(stream, "2000/2000 2001/2001 4000/4000 ");
        }
}
END_TEST

/* The sequence number of a thread overflows: numbers up to half of the range behind a number are
 * before it. */
START_TEST(test_sequence_wraps)
{
        static const NettraceTestEvent EVENTS[] = {{1, 0x7fffffff, 7, 2000, true},
                                                   {1, 0xfffffffe, 7, 2001, false},
                                                   {1, 0xffffffff, 7, 2002, false},
                                                   {1, 0, 7, 2003, false},
                                                   {1, 1, 7, 2004, false}};
        g_autoptr(GByteArray) stream = nettrace_stream_begin(4);
        unsigned i;

        for (i = 0; i < G_N_ELEMENTS(EVENTS); i++)
                nettrace_put_one(stream, 4, &EVENTS[i]);
        nettrace_stream_end(stream, 4);
        check_stream(stream, "[1000,2000]2147483646 2000/2000 [2000,2001]2147483646 2001/2001 "
                             "2002/2002 2003/2003 2004/2004 ");
}
END_TEST

/* A runtime can write signature and header twice; the padding of blocks counts from the second
 * one. */
START_TEST(test_second_head)
{
        enum { N_HEAD = 102 };
        g_autoptr(GByteArray) stream = nettrace_stream_begin(4), twice = g_byte_array_new();
        static const NettraceTestEvent EVENT = {1, 1, 7, 2000, true};
        g_autoptr(GError) error = NULL;
        NettraceReader *reader;

        nettrace_put_one(stream, 4, &EVENT);
        nettrace_stream_end(stream, 4);
        nettrace_put_bytes(twice, stream->data, N_HEAD);
        nettrace_put_bytes(twice, stream->data, stream->len);
        check_stream(twice, "2000/2000 ");
        /* A second header of another session is refused. */
        twice->data[2 * N_HEAD - 10] ^= 1;
        reader = nettrace_reader_new(EVENT_USE_ALL);
        ck_assert(!nettrace_reader_push(reader, twice->data, twice->len, &error));
        ck_assert(strstr(error->message, "a second header"));
        nettrace_reader_free(reader);
}
END_TEST

/* Block headers without compression: all fields are present. */
START_TEST(test_whole_headers)
{
        unsigned version = VERSIONS[_i];
        g_autoptr(GByteArray) stream = nettrace_stream_begin(version);
        GByteArray *block = nettrace_block_new(false);
        unsigned i;

        for (i = 0; i < 3; i++) {
                unsigned n_labels = version < 6 ? 32 : 4;

                nettrace_put(block, 48 + n_labels + NETTRACE_TEST_PAYLOAD, 4);
                nettrace_put(block, i ? 1 : 0x80000001, 4);
                nettrace_put(block, i + 1, 4);
                nettrace_put(block, 7, 8);
                nettrace_put(block, 7, 8);
                nettrace_put(block, 0, 4);
                nettrace_put(block, 0, 4);
                nettrace_put(block, 2000 + i, 8);
                while (n_labels-- > 0)
                        nettrace_put(block, 0, 1);
                nettrace_put(block, NETTRACE_TEST_PAYLOAD, 4);
                nettrace_put(block, i, NETTRACE_TEST_PAYLOAD);
                while (version < 6 && block->len % 4)
                        nettrace_put(block, 0, 1);
        }
        nettrace_put_block(stream, version, NETTRACE_BLOCK_EVENT, block);
        nettrace_stream_end(stream, version);
        check_stream(stream, "2000/0 2001/1 2002/2 ");
}
END_TEST

/* If a stream of version 6 has no version for an event, the size of the payload decides. */
START_TEST(test_version_by_size)
{
        g_autoptr(GByteArray) stream = nettrace_stream_new(6);
        GByteArray *metadata = g_byte_array_new(), *block = nettrace_block_new(true);
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_CODE_MAPS);
        static const unsigned SIZES[] = {36, 38, 46, 37};
        static const uint64_t INDEX = 7;
        Record record;
        StreamGap gap;
        unsigned i;

        nettrace_put(metadata, 0, 2);
        nettrace_put(metadata, 1 + 1 + strlen("Microsoft-Windows-DotNETRuntime") + 2 + 1 + 2 + 2,
                     2);
        nettrace_put_varint(metadata, 1);
        nettrace_put_text(metadata, "Microsoft-Windows-DotNETRuntime");
        nettrace_put_varint(metadata, 142);
        nettrace_put_text(metadata, "");
        nettrace_put(metadata, 0, 2);
        nettrace_put(metadata, 0, 2);
        nettrace_put_block(stream, 6, NETTRACE_BLOCK_METADATA, metadata);
        nettrace_put_threads(stream, 6, &INDEX, 1);
        for (i = 0; i < G_N_ELEMENTS(SIZES); i++) {
                unsigned j;

                nettrace_put(block, NETTRACE_TEST_FLAGS, 1);
                nettrace_put_varint(block, 1);
                nettrace_put_varint(block, 0);
                nettrace_put_varint(block, 7);
                nettrace_put_varint(block, 0);
                nettrace_put_varint(block, 7);
                nettrace_put_varint(block, 2000);
                nettrace_put_varint(block, SIZES[i]);
                for (j = 0; j < SIZES[i]; j++)
                        nettrace_put(block, 0, 1);
        }
        nettrace_put_block(stream, 6, NETTRACE_BLOCK_EVENT, block);
        ck_assert(nettrace_reader_push(reader, stream->data, stream->len, NULL));
        nettrace_reader_finish(reader);
        for (i = 0; i < 3; i++) {
                ck_assert_int_eq(nettrace_reader_next(reader, &record, &gap), NETTRACE_ITEM_RECORD);
                ck_assert_int_eq(record.event->id, 142);
                ck_assert_int_eq(record.event->version, i);
                ck_assert_int_eq(record.tid, 5007);
        }
        /* The stream has no end and no promise. */
        ck_assert_int_eq(nettrace_reader_next(reader, &record, &gap), NETTRACE_ITEM_GAP);
        ck_assert_int_eq(nettrace_reader_next(reader, &record, &gap), NETTRACE_ITEM_NONE);
        nettrace_reader_free(reader);
}
END_TEST

START_TEST(test_header)
{
        unsigned version = VERSIONS[_i];
        g_autoptr(GByteArray) stream = nettrace_stream_new(version);
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);
        g_autoptr(StreamIdentity) identity = NULL;
        const NettraceHeader *header;

        ck_assert(nettrace_reader_push(reader, stream->data, stream->len - 1, NULL));
        ck_assert_ptr_null(nettrace_reader_header(reader));
        ck_assert(nettrace_reader_push(reader, stream->data + stream->len - 1, 1, NULL));
        header = nettrace_reader_header(reader);
        ck_assert_int_eq(header->version, version);
        ck_assert_uint_eq(header->begin, NETTRACE_TEST_BEGIN);
        ck_assert_int_eq(header->pid, version < 6 ? NETTRACE_TEST_PID : 0);
        ck_assert_int_eq(header->pointer_size, 8);
        /* date -u -d '2026-11-22 06:03:08' +%s */
        ck_assert_int_eq(header->clock_offset, INT64_C(1795327388071000000) - NETTRACE_TEST_BEGIN);
        identity = nettrace_header_identity(header);
        ck_assert_int_eq(identity->pid, version < 6 ? NETTRACE_TEST_PID : 0);
        ck_assert_int_eq(identity->scheme,
                         version < 6 ? BUFFER_SCHEME_PER_PID : BUFFER_SCHEME_UNKNOWN);
        ck_assert(!nettrace_reader_is_complete(reader));
        nettrace_reader_free(reader);
}
END_TEST

START_TEST(test_clock)
{
        NettraceHeader header = {.frequency = 10000000};

        ck_assert_uint_eq(nettrace_header_ns(&header, 25), 2500);
        ck_assert_uint_eq(nettrace_header_ns(&header, UINT64_C(1) << 56),
                          (UINT64_C(1) << 56) * 100);
        header.frequency = 1000000000;
        ck_assert_uint_eq(nettrace_header_ns(&header, UINT64_MAX), UINT64_MAX);
}
END_TEST

/* A stream may end anywhere: the reader gives the events before the end, and reports a gap if
 * events may be missing. */
START_TEST(test_truncated)
{
        unsigned version = VERSIONS[_i];
        g_autoptr(GByteArray) stream = stream_in_disorder(version);
        g_autofree char *whole = read_stream(stream->data, stream->len, stream->len, NULL);
        size_t n;

        for (n = 0; n < stream->len; n++) {
                g_autofree char *part = NULL;
                GError *error = NULL;

                part = read_stream(stream->data, n, MAX(n, 1), &error);
                ck_assert_msg(!error, "%u bytes: %s", (unsigned)n, error ? error->message : "");
                if (*part && strcmp(part, whole) != 0) {
                        ck_assert(g_str_has_suffix(part, "[2000,2110]-1 2110/6 "));
                        ck_assert(strstr(part, "2000/1 2005/4 2010/2 2010/5"));
                }
        }
}
END_TEST

/* Bytes with wrong values: no crash, and never an endless stream. */
START_TEST(test_lies)
{
        static const uint8_t LIES[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
        unsigned version = VERSIONS[_i], lie;
        g_autoptr(GByteArray) stream = stream_in_disorder(version);
        size_t at;

        for (at = 0; at < stream->len; at++) {
                uint8_t honest = stream->data[at];

                for (lie = 0; lie < G_N_ELEMENTS(LIES); lie++) {
                        NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);
                        Record record;
                        StreamGap gap;
                        unsigned n = 0;

                        stream->data[at] = LIES[lie];
                        nettrace_reader_push(reader, stream->data, stream->len, NULL);
                        nettrace_reader_finish(reader);
                        while (nettrace_reader_next(reader, &record, &gap) != NETTRACE_ITEM_NONE)
                                ck_assert_int_le(++n, stream->len);
                        nettrace_reader_free(reader);
                }
                stream->data[at] = honest;
        }
}
END_TEST

/* Bytes that are written at AT, and the error message. */
static const struct {
        unsigned version;
        size_t at;
        const char *bytes;
        size_t n;
        int code;
        const char *message;
} REFUSED[] = {
        {4, 0, "nettrace", 8, NETTRACE_ERROR_FORMAT, "it does not begin as nettrace does"},
        {4, 12, "!FastSerialization.2", 20, NETTRACE_ERROR_DAMAGED, "damaged at byte 0"},
        {4, 8, "\x15", 1, NETTRACE_ERROR_DAMAGED, "the head is not that of nettrace"},
        {6, 12, "\x07", 1, NETTRACE_ERROR_FORMAT, "nettrace of version 7"},
        {4, 39, "\x03", 1, NETTRACE_ERROR_FORMAT, "nettrace of version 3"},
        {4, 39, "\x06", 1, NETTRACE_ERROR_FORMAT, "nettrace of version 6"},
        {4, 32, "\x07", 1, NETTRACE_ERROR_DAMAGED, "no object begins there"},
        {4, 43, "\xff", 1, NETTRACE_ERROR_DAMAGED, "a type with a long name"},
        {4, 53, "\x00\x00", 2, NETTRACE_ERROR_DAMAGED, "a malformed header"},
        {4, 77, "\0\0\0\0\0\0\0\0", 8, NETTRACE_ERROR_DAMAGED, "a malformed header"},
        {6, 23, "\x02", 1, NETTRACE_ERROR_DAMAGED, "the header is not first"},
};

START_TEST(test_refused)
{
        unsigned version = REFUSED[_i].version;
        g_autoptr(GByteArray) stream = stream_in_disorder(version);
        g_autofree char *out = NULL;
        GError *error = NULL;

        memcpy(stream->data + REFUSED[_i].at, REFUSED[_i].bytes, REFUSED[_i].n);
        out = read_stream(stream->data, stream->len, 1, &error);
        ck_assert_ptr_null(out);
        ck_assert(g_error_matches(error, NETTRACE_ERROR, REFUSED[_i].code));
        ck_assert_msg(strstr(error->message, REFUSED[_i].message), "%s", error->message);
        g_error_free(error);
}
END_TEST

/* A block with a size above the limit is refused before its bytes arrive. */
START_TEST(test_too_large)
{
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);
        g_autoptr(GByteArray) stream = nettrace_stream_new(4);
        GError *error = NULL;

        nettrace_put(stream, 0x010505, 3);
        nettrace_put(stream, 2, 4);
        nettrace_put(stream, 2, 4);
        nettrace_put(stream, 10, 4);
        nettrace_put_bytes(stream, "StackBlock", 10);
        nettrace_put(stream, 6, 1);
        nettrace_put(stream, NETTRACE_MAX_BLOCK + 1, 4);
        nettrace_put(stream, 0, 4);
        ck_assert(!nettrace_reader_push(reader, stream->data, stream->len, &error));
        ck_assert_ptr_nonnull(strstr(error->message, "16 MiB"));
        g_error_free(error);
        nettrace_reader_free(reader);
}
END_TEST

/* Without a promise, events wait up to a limit; afterwards an older event becomes a gap. */
START_TEST(test_limit)
{
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);
        g_autoptr(GByteArray) stream = nettrace_stream_begin(4);
        g_autoptr(GString) out = g_string_new(NULL);
        static const NettraceTestEvent FIRST = {1, 1, 7, 2000, false},
                                       SECOND = {1, 2, 7, 2001, false},
                                       OLDER = {1, 1, 8, 1999, false};
        size_t n;

        nettrace_reader_limit(reader, 150);
        nettrace_put_one(stream, 4, &FIRST);
        ck_assert(nettrace_reader_push(reader, stream->data, stream->len, NULL));
        take_items(reader, out);
        ck_assert_str_eq(out->str, "");
        n = stream->len;
        nettrace_put_one(stream, 4, &SECOND);
        ck_assert(nettrace_reader_push(reader, stream->data + n, stream->len - n, NULL));
        take_items(reader, out);
        ck_assert_str_eq(out->str, "2000/2000 2001/2001 ");
        n = stream->len;
        nettrace_put_one(stream, 4, &OLDER);
        ck_assert(nettrace_reader_push(reader, stream->data + n, stream->len - n, NULL));
        nettrace_reader_finish(reader);
        take_items(reader, out);
        ck_assert_str_eq(out->str, "2000/2000 2001/2001 [1999,2002]1 ");
        nettrace_reader_free(reader);
}
END_TEST

/* A header as .NET 10 wrote it, from the first event of a recording, and changes after it. */
START_TEST(test_compressed_header)
{
        static const uint8_t HEADER[] = {0xcf, 0x01, 0x00, 0xa1, 0x7d, 0xff, 0xff, 0xff,
                                         0xff, 0x0f, 0xa1, 0x7d, 0x01, 0xbd, 0xdd, 0x87,
                                         0xb8, 0x9a, 0x97, 0x01, 0xb5, 0x01};
        static const uint8_t SAME[] = {0x00, 0x05};
        g_autoptr(GByteArray) bytes = nettrace_block_new(true);
        NettraceEvents events;
        NettraceBlock block;
        unsigned i;

        nettrace_put_bytes(bytes, HEADER, sizeof(HEADER));
        for (i = 0; i < 181; i++)
                nettrace_put(bytes, i, 1);
        nettrace_put_bytes(bytes, SAME, sizeof(SAME));
        for (i = 0; i < 181; i++)
                nettrace_put(bytes, 0, 1);
        block = (NettraceBlock){NETTRACE_BLOCK_EVENT, bytes->data, bytes->len, 100};
        ck_assert(nettrace_events_init(&events, &block, 4));
        for (i = 0; i < 2; i++) {
                ck_assert_int_eq(nettrace_events_next(&events), NETTRACE_EVENTS_ONE);
                ck_assert_uint_eq(events.event.metadata_id, 1);
                ck_assert_uint_eq(events.event.sequence, i + 1);
                ck_assert_uint_eq(events.event.capture_thread, 16033);
                ck_assert_uint_eq(events.event.thread, 16033);
                ck_assert_uint_eq(events.event.ticks, UINT64_C(5195417382589) + 5 * i);
                ck_assert_uint_eq(events.event.n_payload, 181);
                ck_assert(events.event.is_sorted == (i == 0));
        }
        ck_assert_int_eq(nettrace_events_next(&events), NETTRACE_EVENTS_END);
        ck_assert_uint_eq(nettrace_events_offset(&events), 100 + bytes->len);
}
END_TEST

/* The queue against a stable sort: the events come in order, and none is missing. */
START_TEST(test_queue)
{
        g_autoptr(GRand) random = g_rand_new_with_seed((guint32)_i);
        unsigned n = 0, i, n_out = 0;
        uint64_t horizon = 1, last = 0, last_value = 0;
        const NettraceQueued *queued;
        NettraceQueue queue;
        StreamGap loss;

        nettrace_queue_init(&queue);
        while (horizon < 10000) {
                unsigned n_runs = (unsigned)g_rand_int_range(random, 0, 6);

                while (n_runs-- > 0) {
                        uint64_t time = horizon + (uint64_t)g_rand_int_range(random, 0, 20);
                        NettraceChunk *chunk =
                                nettrace_queue_chunk(&queue, (const uint8_t *)&n, sizeof(n));

                        for (i = (unsigned)g_rand_int_range(random, 1, 50); i > 0; i--) {
                                nettrace_queue_add(&queue, &(NettraceQueued){.time = time,
                                                                             .chunk = chunk,
                                                                             .tid = (int)n++});
                                time += (uint64_t)g_rand_int_range(random, 0, 4);
                        }
                        nettrace_queue_release_chunk(&queue, chunk);
                }
                horizon += (uint64_t)g_rand_int_range(random, 0, 60);
                nettrace_queue_advance(&queue, horizon);
                while (nettrace_queue_next(&queue, &queued, &loss) == NETTRACE_QUEUE_EVENT) {
                        ck_assert_uint_lt(queued->time, horizon);
                        ck_assert_uint_ge(queued->time, last);
                        if (queued->time == last)
                                ck_assert_uint_gt((uint64_t)queued->tid, last_value);
                        last = queued->time;
                        last_value = (uint64_t)queued->tid;
                        n_out++;
                }
        }
        nettrace_queue_flush(&queue);
        while (nettrace_queue_next(&queue, &queued, &loss) == NETTRACE_QUEUE_EVENT)
                n_out++;
        ck_assert_uint_eq(n_out, n);
        nettrace_queue_flush(&queue);
        ck_assert_uint_eq(queue.n_bytes, 0);
        nettrace_queue_deinit(&queue);
}
END_TEST

/* Many losses are merged into one gap, and the count includes all of them. */
START_TEST(test_many_losses)
{
        const NettraceQueued *queued;
        uint64_t n = 0, i, n_lost = 0, begin = UINT64_MAX, end = 0;
        NettraceQueue queue;
        StreamGap loss;

        nettrace_queue_init(&queue);
        for (i = 1; i <= 3 * NETTRACE_MAX_LOSSES; i++)
                nettrace_queue_add_loss(&queue, &(StreamGap){GAP_EVENTS, i, 2 * i, 2});
        nettrace_queue_flush(&queue);
        while (nettrace_queue_next(&queue, &queued, &loss) == NETTRACE_QUEUE_LOSS) {
                n++;
                n_lost += loss.count;
                begin = MIN(begin, loss.begin);
                end = MAX(end, loss.end);
        }
        ck_assert_uint_eq(n, NETTRACE_MAX_LOSSES);
        ck_assert_uint_eq(n_lost, 6 * NETTRACE_MAX_LOSSES);
        ck_assert_uint_eq(begin, 1);
        ck_assert_uint_eq(end, 6 * NETTRACE_MAX_LOSSES);
        nettrace_queue_deinit(&queue);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("nettrace");
        TCase *good = tcase_create("good"), *bad = tcase_create("bad");

        tcase_add_test(good, test_compressed_header);
        tcase_add_test(good, test_clock);
        tcase_add_loop_test(good, test_header, 0, G_N_ELEMENTS(VERSIONS));
        tcase_add_loop_test(good, test_order, 0, G_N_ELEMENTS(VERSIONS));
        tcase_add_loop_test(good, test_whole_headers, 0, G_N_ELEMENTS(VERSIONS));
        tcase_add_test(good, test_second_head);
        tcase_add_test(good, test_version_by_size);
        tcase_add_loop_test(good, test_queue, 0, 20);
        suite_add_tcase(suite, good);

        tcase_add_loop_test(bad, test_loss, 0, G_N_ELEMENTS(LOSSES));
        tcase_add_loop_test(bad, test_horizon, 0, G_N_ELEMENTS(VERSIONS));
        tcase_add_test(bad, test_thread_comes_again);
        tcase_add_test(bad, test_sequence_wraps);
        tcase_add_loop_test(bad, test_truncated, 0, G_N_ELEMENTS(VERSIONS));
        tcase_add_loop_test(bad, test_lies, 0, G_N_ELEMENTS(VERSIONS));
        tcase_add_loop_test(bad, test_refused, 0, G_N_ELEMENTS(REFUSED));
        tcase_add_test(bad, test_too_large);
        tcase_add_test(bad, test_limit);
        tcase_add_test(bad, test_many_losses);
        suite_add_tcase(suite, bad);
        return suite;
}
