/* SPDX-License-Identifier: MIT */

/* The stream from perf's filter to `clrsym perf`: named samples, and counts */

#include "perf/counts.h"
#include "perf/stream.h"
#include "perf/type-handles.h"

#include "support/suite.h"

#include <stdio.h>
#include <string.h>

static void put(GByteArray *bytes, StreamType type, const void *row, size_t n_row, const void *rest,
                size_t n_rest)
{
        const StreamHeader header = {type, (uint32_t)(n_row + n_rest)};

        g_byte_array_append(bytes, (const guint8 *)&header, sizeof(header));
        g_byte_array_append(bytes, row, (guint)n_row);
        g_byte_array_append(bytes, rest, (guint)n_rest);
}

static void put_frame(GByteArray *bytes, const char *name, const char *module, NamedKind kind)
{
        const StreamFrame frame = {.n_name = (uint32_t)strlen(name),
                                   .n_module = (uint32_t)strlen(module),
                                   .kind = (uint8_t)kind,
                                   .tier = 3};
        g_autofree char *texts = g_strconcat(name, module, NULL);

        put(bytes, STREAM_FRAME, &frame, sizeof(frame), texts, strlen(texts));
}

static void put_sample(GByteArray *bytes, uint32_t comm, const uint32_t *frames, size_t n)
{
        const StreamSample sample = {
                .time = 12345678901, .period = 7, .pid = 10, .tid = -1, .comm = comm};

        put(bytes, STREAM_SAMPLE, &sample, sizeof(sample), frames, n * sizeof(*frames));
}

/* Appends the read items as text. */
static void take_frame(void *data, const StreamFrame *frame, const char *name, const char *module)
{
        g_string_append_printf(data, "%d %s (%s)\n", frame->kind, name, module);
}

static void take_sample(void *data, const StreamSample *sample, const char *comm, const char *event,
                        const uint32_t *frames, size_t n)
{
        size_t i;

        g_string_append_printf(data, "%s %s %d %d %" G_GUINT64_FORMAT ":", comm, event, sample->pid,
                               sample->tid, (guint64)sample->time);
        for (i = 0; i < n; i++)
                g_string_append_printf(data, " %u", frames[i]);
        g_string_append_c(data, '\n');
}

static void take_line(void *data, uint32_t line, const char *file)
{
        g_string_append_printf(data, "%s:%u ", file, line);
}

static void take_checksum(void *data, const char *checksum)
{
        g_string_append_printf(data, "%s ", checksum);
}

static void take_process(void *data, int32_t pid, const char *command)
{
        g_string_append_printf(data, "%d: %s\n", (int)pid, command);
}

static bool take_marker(void *data, const StreamMarker *marker, const char *text)
{
        g_string_append_printf(data,
                               "%u of %d/%d, %" G_GUINT64_FORMAT "-%" G_GUINT64_FORMAT ": %s\n",
                               marker->kind, (int)marker->pid, (int)marker->tid,
                               (guint64)marker->begin, (guint64)marker->end, text);
        return marker->kind < 3;
}

static void take_physical(void *data, const uint32_t *frames, size_t n)
{
        size_t i;

        for (i = 0; i < n; i++)
                g_string_append_printf(data, "(%u) ", frames[i]);
}

static const StreamCalls CALLS = {take_frame,   take_sample, take_line,    take_checksum,
                                  take_process, take_marker, take_physical};

static void put_marker(GByteArray *bytes, uint64_t begin, uint32_t kind)
{
        const StreamMarker marker = {.begin = begin, .end = 9, .pid = 10, .tid = 11, .kind = kind};

        put(bytes, STREAM_MARKER, &marker, sizeof(marker), "generation 0", 12);
}

static GByteArray *whole(void)
{
        static const uint32_t STACK[] = {1, 0, 1};
        static const StreamLine LINE = {12};
        static const StreamProcess PROCESS = {10};
        GByteArray *bytes = g_byte_array_new();

        g_byte_array_append(bytes, (const guint8 *)STREAM_MAGIC, STREAM_N_MAGIC);
        put(bytes, STREAM_TEXT, "cpu-clock", 9, "", 0);
        put(bytes, STREAM_PROCESS, &PROCESS, sizeof(PROCESS), "dotnet a.dll", 12);
        put(bytes, STREAM_CHECKSUM, "0aff", 4, "", 0);
        put(bytes, STREAM_LINE, &LINE, sizeof(LINE), "/a.cs", 5);
        put_frame(bytes, "N.T.M()", "App.dll", NAMED_MANAGED);
        put_frame(bytes, "", "", NAMED_UNKNOWN);
        put_marker(bytes, 5, 2);
        put(bytes, STREAM_PHYSICAL, STACK, 2 * sizeof(*STACK), "", 0);
        put_sample(bytes, 0, STACK, 3);
        put(bytes, STREAM_TEXT, "", 0, "", 0);
        put_sample(bytes, 1, NULL, 0);
        put(bytes, STREAM_END, "", 0, "", 0);
        return bytes;
}

static const char WHOLE[] = "10: dotnet a.dll\n"
                            "0aff /a.cs:12 0 N.T.M() (App.dll)\n"
                            "3  ()\n"
                            "2 of 10/11, 5-9: generation 0\n"
                            "(1) (0) cpu-clock cpu-clock 10 -1 12345678901: 1 0 1\n"
                            " cpu-clock 10 -1 12345678901:\n";

/* The stream in pieces of any size. */
START_TEST(test_pieces)
{
        g_autoptr(GByteArray) bytes = whole();
        size_t n, at;

        for (n = 1; n <= bytes->len; n++) {
                g_autoptr(GString) text = g_string_new(NULL);
                StreamReader *reader = stream_reader_new(&CALLS, text);

                for (at = 0; at < bytes->len; at += n) {
                        ck_assert(!stream_reader_is_whole(reader));
                        ck_assert(stream_reader_take(reader, bytes->data + at,
                                                     MIN(n, bytes->len - at)));
                }
                ck_assert_str_eq(text->str, WHOLE);
                ck_assert(stream_reader_is_whole(reader));
                stream_reader_free(reader);
        }
}
END_TEST

START_TEST(test_cut)
{
        g_autoptr(GByteArray) bytes = whole();
        guint n;

        for (n = 0; n < bytes->len; n++) {
                g_autoptr(GString) text = g_string_new(NULL);
                StreamReader *reader = stream_reader_new(&CALLS, text);

                ck_assert(stream_reader_take(reader, bytes->data, n));
                ck_assert(!stream_reader_is_whole(reader));
                stream_reader_free(reader);
        }
}
END_TEST

/* Any byte may change: the stream is then read differently, or refused. */
START_TEST(test_broken)
{
        g_autoptr(GByteArray) bytes = whole();
        guint i, bit, n_refused = 0;

        for (i = 0; i < bytes->len; i++)
                for (bit = 0; bit < 8; bit++) {
                        g_autoptr(GString) text = g_string_new(NULL);
                        StreamReader *reader = stream_reader_new(&CALLS, text);

                        bytes->data[i] ^= (guint8)(1u << bit);
                        if (!stream_reader_take(reader, bytes->data, bytes->len) ||
                            !stream_reader_is_whole(reader))
                                n_refused++;
                        bytes->data[i] ^= (guint8)(1u << bit);
                        stream_reader_free(reader);
                }
        ck_assert_uint_gt(n_refused, bytes->len);
}
END_TEST

START_TEST(test_refused)
{
        static const uint32_t FAR[] = {2};
        const StreamFrame frame = {.n_name = 4, .n_module = UINT32_MAX - 3, .kind = NAMED_NATIVE};
        const StreamFrame kind = {.kind = _NAMED_KIND_MAX};
        GByteArray *all[] = {whole(), whole(), whole(), whole(), whole(), whole(),
                             whole(), whole(), whole(), whole(), whole()};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(all); i++)
                g_byte_array_set_size(all[i], all[i]->len - (guint)sizeof(StreamHeader));
        put_sample(all[0], 0, FAR, 1);
        put_sample(all[1], 2, NULL, 0);
        put(all[2], STREAM_FRAME, &frame, sizeof(frame), "", 0);
        put(all[3], STREAM_FRAME, &kind, sizeof(kind), "", 0);
        put(all[4], STREAM_END, "", 0, "", 0);
        put(all[4], STREAM_END, "", 0, "", 0);
        put(all[5], (StreamType)99, "", 0, "", 0);
        put_marker(all[6], 10, 0); /* the end is before the begin */
        put_marker(all[7], 5, 3);
        put(all[8], STREAM_MARKER, "", 0, "", 0);
        put(all[9], STREAM_PHYSICAL, FAR, sizeof(FAR), "", 0);
        put(all[10], STREAM_PHYSICAL, "", 0, "", 0);
        for (i = 0; i < G_N_ELEMENTS(all); i++) {
                g_autoptr(GString) text = g_string_new(NULL);
                StreamReader *reader = stream_reader_new(&CALLS, text);

                ck_assert(!stream_reader_take(reader, all[i]->data, all[i]->len));
                ck_assert(!stream_reader_take(reader, "", 0));
                ck_assert(!stream_reader_is_whole(reader));
                stream_reader_free(reader);
                g_byte_array_unref(all[i]);
        }
}
END_TEST

/* The number of markers in memory is bounded. */
START_TEST(test_many_markers)
{
        static const StreamCalls NOBODY = {.marker = NULL};
        g_autoptr(GByteArray) marker = g_byte_array_new();
        StreamReader *reader = stream_reader_new(&NOBODY, NULL);
        guint i;

        put_marker(marker, 5, 0);
        ck_assert(stream_reader_take(reader, STREAM_MAGIC, STREAM_N_MAGIC));
        for (i = 0; i < STREAM_MAX_MARKERS; i++)
                ck_assert(stream_reader_take(reader, marker->data, marker->len));
        ck_assert(!stream_reader_take(reader, marker->data, marker->len));
        stream_reader_free(reader);
}
END_TEST

START_TEST(test_counts)
{
        Counts counts = {0};
        char text[500], small[10];

        counts = (Counts){.n = {[COUNT_SAMPLES] = 3,
                                [COUNT_JITTED] = 20000,
                                [COUNT_JITTED_NAMED] = 19999,
                                [COUNT_NO_METHOD] = 1}};
        counts_summary(&counts, text, sizeof(text));
        ck_assert_str_eq(text, "3 samples, 20000 managed frames: 99.99% named (19999 of 20000 "
                               "jitted, 0 of 0 precompiled; 0 marked ~), 1 unknown, 0 unloaded "
                               "before");
        ck_assert_uint_eq(counts_summary(&counts, small, sizeof(small)), strlen(text));
        ck_assert_str_eq(small, "3 samples");
        counts_summary_unnamed(&counts, text, sizeof(text));
        ck_assert_str_eq(text, "1 of 20000 managed frames have no name: 1 unknown");
        counts.n[COUNT_NO_PROCESS] = 2;
        counts.n[COUNT_IMAGE] = 2;
        counts_summary_unnamed(&counts, text, sizeof(text));
        ck_assert_str_eq(text, "3 of 20002 managed frames have no name: 2 of unknown processes, "
                               "1 unknown");
        counts.n[COUNT_NO_PROCESS] = counts.n[COUNT_IMAGE] = 0;
        counts.n[COUNT_JITTED_NAMED] = 20000;
        counts_summary(&counts, text, sizeof(text));
        ck_assert(strstr(text, ": 100.00% named"));
        ck_assert_uint_eq(counts_summary_unnamed(&counts, small, sizeof(small)), 0);
        counts = (Counts){0};
        counts_summary(&counts, text, sizeof(text));
        ck_assert(g_str_has_prefix(text, "0 samples, 0 managed frames, "));

        counts.n[COUNT_LINE_FOUND] = 7;
        counts_summary_lines(&counts, text, sizeof(text));
        ck_assert_str_eq(text, "7 of 7 named frames have a source line");
        counts.n[COUNT_LINE_PDB_MISSING] = 2;
        counts.n[COUNT_LINE_NONE] = 1;
        counts_summary_lines(&counts, text, sizeof(text));
        ck_assert_str_eq(text, "7 of 10 named frames have a source line; without one: 2 whose PDB "
                               "was not found, 1 of code that the compiler made up");
}
END_TEST

START_TEST(test_type_handles)
{
        static const struct {
                const char *name, *want;
        } HANDLES[] = {
                {"A.M(type:0x7f12ab<object, type:0x1>)", "A.M(type<object, type>)"},
                {"A.M(type:0x", "A.M(type"},
                {"A.type:M(int)", "A.type:M(int)"},
                {"", ""},
        };
        char name[64];
        size_t i;

        for (i = 0; i < sizeof(HANDLES) / sizeof(HANDLES[0]); i++) {
                snprintf(name, sizeof(name), "%s", HANDLES[i].name);
                type_handles_drop(name);
                ck_assert_str_eq(name, HANDLES[i].want);
        }
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("perf-stream");
        TCase *tcase = tcase_create("perf-stream");

        tcase_set_timeout(tcase, 60);
        tcase_add_test(tcase, test_type_handles);
        tcase_add_test(tcase, test_pieces);
        tcase_add_test(tcase, test_cut);
        tcase_add_test(tcase, test_broken);
        tcase_add_test(tcase, test_refused);
        tcase_add_test(tcase, test_many_markers);
        tcase_add_test(tcase, test_counts);
        suite_add_tcase(suite, tcase);
        return suite;
}
