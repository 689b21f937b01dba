/* SPDX-License-Identifier: MIT */

/*
 * A recording of dotnet-trace collect-linux, built by the test, and the perf.data file that it is
 * converted to
 */

#include "collect/collect.h"
#include "collect/image-file.h"
#include "perfdata/address-space.h"
#include "perfdata/perf-data.h"
#include "perfdata/perf-sample.h"

#include "support/suite.h"
#include "support/universal-stream.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const UniversalTestEvent EVENTS[] = {
        {UNIVERSAL_PROCESS, 1, false, "0703006162630000"},
        /* Process 9: 0x1000 to 0x1fff, at 0x2000 of /a.; a stack; the kernel's stack. */
        {UNIVERSAL_MAPPING, 1, false, "098020ff3f804003002f612e0000780000"},
        {UNIVERSAL_MAPPING, 1, false,
         "0a808004808008000700"
         "5b737461636b5d00"},
        {UNIVERSAL_MAPPING, 1, false,
         "0b80808080808080808001ffffffffffffffffff01000000"
         "00"},
        /* M1 from 0x1000 to 0x1010; M2 from 0x1008 on; K in the kernel. */
        {UNIVERSAL_SYMBOL, 1, false,
         "0009802090200200"
         "4d31"},
        {UNIVERSAL_SYMBOL, 1, false,
         "0109882090200200"
         "4d32"},
        {UNIVERSAL_SYMBOL, 1, false, "020b80808088f8ffffffff01ff808088f8ffffffff0101004b"},
        {UNIVERSAL_CPU, 1, true, "01"},
        {UNIVERSAL_CPU, 2, true, "01"},
        {UNIVERSAL_SWITCH, 1, true, "80a094a58d1d"},
        {UNIVERSAL_OTHER_SAMPLE, 1, true, "01"},
        {UNIVERSAL_EXIT, 1, false, ""},
        {UNIVERSAL_CPU, 1, true, "01"},
};

/* Converts the first N bytes of STREAM to a perf.data file. */
static int convert(const GByteArray *stream, size_t n, RecorderSymbols *symbols,
                   CollectReport *ret_report)
{
        const int input = memfd_create("input", MFD_CLOEXEC);
        const int output = memfd_create("output", MFD_CLOEXEC);

        ck_assert_int_eq(write(input, stream->data, n), (ssize_t)n);
        ck_assert_int_eq(lseek(input, 0, SEEK_SET), 0);
        ck_assert(collect_is(input));
        ck_assert(collect_convert(input, output, symbols, NULL, ret_report, NULL));
        close(input);
        return output;
}

static void write_sample(GString *text, const PerfAttr *event, const PerfSample *sample)
{
        size_t i;

        g_string_append_printf(text, "%s %d/%d on %d at %d for %" G_GUINT64_FORMAT ":", event->name,
                               (int)sample->pid, (int)sample->tid, (int)sample->cpu,
                               (int)sample->time, (guint64)sample->period);
        for (i = 0; i < sample->n_chain; i++)
                g_string_append_printf(text, " %" G_GINT64_MODIFIER "x", sample->chain[i]);
        g_string_append(text, "\n");
}

/* Returns a text with the records that PerfData reads. SPACES gets the mappings. */
static char *read_records(int fd, AddressSpaces *spaces)
{
        g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
        GString *text = g_string_new(NULL);
        const struct perf_event_header *record;
        PerfData data;

        ck_assert(perf_data_open(&data, path, NULL));
        ck_assert(data.features.reference.is_known);
        ck_assert_uint_eq(data.features.reference.clock, 1000);
        for (;;) {
                PerfSample sample;

                ck_assert(perf_data_next(&data, &record, NULL));
                if (!record)
                        break;
                if (record->type == PERF_RECORD_SAMPLE) {
                        const PerfAttr *event = perf_data_event(&data, record);

                        ck_assert(event && perf_sample_read(&event->attr, record, &sample));
                        write_sample(text, event, &sample);
                } else {
                        address_spaces_take(spaces, record, perf_data_time(&data, record));
                }
        }
        perf_data_deinit(&data);
        return g_string_free(text, FALSE);
}

START_TEST(test_whole)
{
        static const char WANT[] =
                "cpu 5/6 on 3 at 16000 for 1: fffffffffffffe00 1000 ffffffffffffff80 "
                "ffffffff81000000\n"
                "cswitch 5/6 on 3 at 20000 for 1000000000000: fffffffffffffe00 1000 "
                "ffffffffffffff80 ffffffff81000000\n"
                "cpu 5/6 on 3 at 26000 for 1: fffffffffffffe00 1000 ffffffffffffff80 "
                "ffffffff81000000\n";
        g_autoptr(GByteArray) stream = universal_stream(EVENTS, G_N_ELEMENTS(EVENTS));
        RecorderSymbols *symbols = recorder_symbols_new();
        AddressSpaces *spaces = address_spaces_new();
        CollectReport report;
        const int fd = convert(stream, stream->len, symbols, &report);
        g_autofree char *text = read_records(fd, spaces);
        const SpaceMapping *mapping;
        RecorderName name;

        ck_assert_str_eq(text, WANT);
        ck_assert_uint_eq(report.n_samples, 3);
        ck_assert_uint_eq(report.n_lost, 0);
        ck_assert(!report.is_cut && !report.damage);
        ck_assert_str_eq(report.unknown,
                         "clrsym: Universal.Events:page-fault (event 3, version 0): 1 events "
                         "skipped: not an event that clrsym reads\n");

        mapping = address_spaces_find(spaces, 5, 16000, 0x1fff);
        ck_assert_ptr_nonnull(mapping);
        ck_assert_uint_eq(mapping->begin, 0x1000);
        ck_assert_uint_eq(mapping->end, 0x2000);
        ck_assert_uint_eq(mapping->offset, 0x2000);
        ck_assert_str_eq(address_spaces_file(spaces, mapping->file)->path, "/a.");
        /* Stacks are not executable. After the exit, the next process with this pid begins without
         * mappings. */
        ck_assert_ptr_null(address_spaces_find(spaces, 5, 16000, 0x10000));
        ck_assert_ptr_null(address_spaces_find(spaces, 5, 26000, 0x1fff));
        ck_assert_str_eq(address_spaces_name(spaces, 5), "abc");

        ck_assert_int_eq(recorder_symbols_find(symbols, 5, 0x1000, &name), RECORDER_ONE);
        ck_assert_str_eq(name.text, "M1" RECORDER_MARK);
        ck_assert_int_eq(recorder_symbols_find(symbols, 5, 0x1008, &name), RECORDER_SEVERAL);
        ck_assert_int_eq(recorder_symbols_find(symbols, RECORDER_KERNEL, 0xffffffff81000000, &name),
                         RECORDER_ONE);
        ck_assert_str_eq(name.text, "K");
        collect_report_clear(&report);
        address_spaces_free(spaces);
        recorder_symbols_free(symbols);
        close(fd);
}
END_TEST

/* A truncated file: the records before the end are converted. */
START_TEST(test_cut)
{
        g_autoptr(GByteArray) stream = universal_stream(EVENTS, G_N_ELEMENTS(EVENTS));
        RecorderSymbols *symbols = recorder_symbols_new();
        CollectReport report;
        const int fd = convert(stream, stream->len - (guint)_i, symbols, &report);

        ck_assert(report.is_cut && !report.damage);
        /* The end mark has 4 bytes; the block before it has all samples. */
        ck_assert_uint_eq(report.n_samples, _i <= 4 ? 3 : 0);
        collect_report_clear(&report);
        recorder_symbols_free(symbols);
        close(fd);
}
END_TEST

START_TEST(test_identity)
{
        static const struct {
                const char *text;
                bool ok;
                ImageKind kind;
                unsigned n_build_id;
                bool has_guid;
        } ROWS[] = {
                {"{\"type\":\"ELF\",\"build_id\":\"0102ff\"}", true, IMAGE_ELF, 3, false},
                {"{\"type\":\"ELF\",\"build_id\":\"\"}", true, IMAGE_ELF, 0, false},
                {"{\"type\":\"ELF\",\"build_id\":\"010\"}", true, IMAGE_ELF, 0, false},
                {"{\"type\":\"ELF\",\"build_id\":\"01zz\"}", true, IMAGE_ELF, 0, false},
                {"{\"type\":\"ELF\",\"build_id\":7}", true, IMAGE_ELF, 0, false},
                {"{\"type\":\"ELF\",\"build_id\":"
                 "\"0102030405060708090a0b0c0d0e0f101112131415\"}",
                 true, IMAGE_ELF, 0, false},
                {"{\"type\":\"PE\",\"signature\":\"000102030405060708090a0b0c0d0e0f\"}", true,
                 IMAGE_PE, 0, true},
                {"{\"type\":\"PE\",\"signature\":\"0001\"}", true, IMAGE_PE, 0, false},
                {"{\"type\":\"PE\"}", true, IMAGE_PE, 0, false},
                {"{\"type\":\"Mach-O\"}", false, 0, 0, false},
                {"[]", false, 0, 0, false},
                {"{", false, 0, 0, false},
                {"", false, 0, 0, false},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                ImageIdentity identity;

                ck_assert_msg(image_identity_read(&identity, ROWS[i].text) == ROWS[i].ok, "row %d",
                              (int)i);
                if (!ROWS[i].ok)
                        continue;
                ck_assert_int_eq(identity.kind, ROWS[i].kind);
                ck_assert_msg(identity.n_build_id == ROWS[i].n_build_id, "row %d: %d", (int)i,
                              identity.n_build_id);
                ck_assert_int_eq(identity.has_guid, ROWS[i].has_guid);
        }
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("collect");
        TCase *all = tcase_create("all");

        tcase_add_test(all, test_whole);
        tcase_add_loop_test(all, test_cut, 1, 80);
        tcase_add_test(all, test_identity);
        suite_add_tcase(suite, all);
        return suite;
}
