/* SPDX-License-Identifier: MIT */

/*
 * Universal events of a nettrace stream, as dotnet-trace collect-linux writes them:
 * UniversalProviders.md of microsoft/perfview
 */

#include "event/event-counts.h"
#include "nettrace/reader.h"

#include "support/nettrace-stream.h"
#include "support/suite.h"

#include <string.h>

enum {
        VERSION = 6,
        ALL_FLAGS = 0xdf, /* as the recorder has them: all but related activities, sorted */
        TYPE_NUMBER = 21,
        TYPE_TEXT = 23,
        OPTIONAL_VERSION = 9,
};

/* Rows of metadata: their id is their number, from 1. */
static const struct {
        const char *provider, *name;
        uint32_t id;
        const char *fields[7];
        unsigned version;
} ROWS[] = {
        {"Universal.Events", "cpu", 1, {"Value"}, 0},
        {"Universal.Events", "cswitch", 2, {"Value"}, 0},
        {"Universal.System", "ExistingProcess", 0, {"NamespaceId", "Name", "NamespaceName"}, 0},
        {"Universal.System", "ProcessExit", 2, {NULL}, 0},
        {"Universal.System",
         "ProcessMapping",
         3,
         {"Id", "StartAddress", "EndAddress", "FileOffset", "FileName", "MetadataId", "Later"},
         0},
        {"Universal.System",
         "ProcessSymbol",
         4,
         {"Id", "MappingId", "StartAddress", "EndAddress", "Name"},
         0},
        /* What is not known: a version, an event, an order of fields. */
        {"Universal.System", "ProcessCreate", 1, {"NamespaceId", "Name", "NamespaceName"}, 1},
        {"Universal.Events", "page-fault", 3, {"Value"}, 0},
        {"Universal.System",
         "ProcessMappingMetadata",
         5,
         {"Id", "VersionMetadata", "SymbolMetadata"},
         0},
};

static void put_rows(GByteArray *out)
{
        GByteArray *block = g_byte_array_new();
        unsigned i, j, n;

        nettrace_put(block, 0, 2);
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autoptr(GByteArray) row = g_byte_array_new();

                for (n = 0; n < G_N_ELEMENTS(ROWS[i].fields) && ROWS[i].fields[n];)
                        n++;
                nettrace_put_varint(row, i + 1);
                nettrace_put_text(row, ROWS[i].provider);
                nettrace_put_varint(row, ROWS[i].id);
                nettrace_put_text(row, ROWS[i].name);
                nettrace_put(row, n, 2);
                for (j = 0; j < n; j++) {
                        nettrace_put(row, strlen(ROWS[i].fields[j]) + 2, 2);
                        nettrace_put_text(row, ROWS[i].fields[j]);
                        nettrace_put(row,
                                     strstr(ROWS[i].fields[j], "Name") ? TYPE_TEXT : TYPE_NUMBER,
                                     1);
                }
                nettrace_put(row, ROWS[i].version ? 2 : 0, 2);
                if (ROWS[i].version) {
                        nettrace_put(row, OPTIONAL_VERSION, 1);
                        nettrace_put(row, ROWS[i].version, 1);
                }
                nettrace_put(block, row->len, 2);
                nettrace_put_bytes(block, row->data, row->len);
        }
        nettrace_put_block(out, VERSION, NETTRACE_BLOCK_METADATA, block);
}

/* Two threads: index 1 is 5/6, index 2 is a CPU without work. */
static void put_threads(GByteArray *out)
{
        static const unsigned THREADS[][3] = {{1, 5, 6}, {2, 0, 0}};
        GByteArray *block = g_byte_array_new();
        unsigned i;

        for (i = 0; i < G_N_ELEMENTS(THREADS); i++) {
                nettrace_put(block, 5, 2);
                nettrace_put_varint(block, THREADS[i][0]);
                nettrace_put(block, 2, 1);
                nettrace_put_varint(block, THREADS[i][1]);
                nettrace_put(block, 3, 1);
                nettrace_put_varint(block, THREADS[i][2]);
        }
        nettrace_put_block(out, VERSION, NETTRACE_BLOCK_THREAD, block);
}

static void put_stack(GByteArray *out)
{
        GByteArray *block = g_byte_array_new();

        nettrace_put(block, 1, 4);
        nettrace_put(block, 1, 4);
        nettrace_put(block, 16, 4);
        nettrace_put(block, 0x1000, 8);
        nettrace_put(block, 0xffffffff81000000, 8);
        nettrace_put_block(out, VERSION, NETTRACE_BLOCK_STACK, block);
}

typedef struct TestEvent {
        unsigned row; /* of ROWS */
        unsigned thread;
        bool has_stack;
        const char *payload; /* hexadecimal digits */
} TestEvent;

static void put_event(GByteArray *block, const TestEvent *event)
{
        const size_t n = strlen(event->payload) / 2;
        size_t i;

        nettrace_put(block, ALL_FLAGS, 1);
        nettrace_put_varint(block, event->row + 1);
        nettrace_put_varint(block, 0);
        nettrace_put_varint(block, 0);
        nettrace_put_varint(block, 3); /* processor */
        nettrace_put_varint(block, event->thread);
        nettrace_put_varint(block, event->has_stack);
        nettrace_put_varint(block, 2000);
        nettrace_put_varint(block, 1); /* labels */
        nettrace_put_varint(block, n);
        for (i = 0; i < n; i++)
                nettrace_put(block,
                             (uint64_t)(g_ascii_xdigit_value(event->payload[2 * i]) << 4 |
                                        g_ascii_xdigit_value(event->payload[2 * i + 1])),
                             1);
}

static GByteArray *stream_of(const TestEvent *events, size_t n)
{
        GByteArray *stream = nettrace_stream_new(VERSION), *block = nettrace_block_new(true);
        size_t i;

        put_rows(stream);
        nettrace_put_point(stream, VERSION, 1000, 1, NULL, 0);
        put_stack(stream);
        put_threads(stream);
        for (i = 0; i < n; i++)
                put_event(block, &events[i]);
        nettrace_put_block(stream, VERSION, NETTRACE_BLOCK_EVENT, block);
        nettrace_stream_end(stream, VERSION);
        return stream;
}

static void write_record(GString *text, const Record *record)
{
        unsigned i;

        g_string_append_printf(text, "%s %d/%d", record->event->name, (int)record->process.pid,
                               (int)record->tid);
        for (i = 0; i < record->event->n_fields; i++)
                if (field_type_is_string(record->event->fields[i].type))
                        g_string_append_printf(text, " '%.*s'", (int)record->values[i].n,
                                               (const char *)record->values[i].data);
                else
                        g_string_append_printf(text, " %" G_GINT64_MODIFIER "x",
                                               record->values[i].u);
}

static void write_universal(void *data, const NettraceUniversal *event)
{
        size_t i;

        write_record(data, event->record);
        g_string_append_printf(data, " on %u", event->processor);
        for (i = 0; i < event->n_addresses; i++)
                g_string_append_printf(data, " %" G_GINT64_MODIFIER "x", event->addresses[i]);
        g_string_append(data, "; ");
}

static const struct {
        TestEvent event;
        const char *record; /* NULL: it is not decoded */
        const char *stack;
} EVENTS[] = {
        {{0, 1, true, "01"}, "cpu 5/6 1", " 1000 ffffffff81000000"},
        {{0, 2, true, "01"}, "cpu 0/0 1", " 1000 ffffffff81000000"},
        {{1, 1, true, "80a094a58d1d"}, "cswitch 5/6 e8d4a51000", " 1000 ffffffff81000000"},
        {{2, 1, false, "0703006162630000"}, "ExistingProcess 5/6 7 'abc' ''", ""},
        {{3, 1, false, ""}, "ProcessExit 5/6", ""},
        /* The recorder writes more than it describes. */
        {{4, 1, false, "098020ff3f8080800103002f612e0c0100780000"},
         "ProcessMapping 5/6 9 1000 1fff 200000 '/a.' c",
         ""},
        {{5, 1, false, "00098020802101004d"}, "ProcessSymbol 5/6 0 9 1000 1080 'M'", ""},
        /* A text that is no UTF-8; the largest number. */
        {{5, 1, false,
          "0009ffffffffffffffffff018021"
          "0100ff"},
         "ProcessSymbol 5/6 0 9 ffffffffffffffff 1080 '\357\277\275'",
         ""},
        {{2, 1, false, "0703006100630000"}, "ExistingProcess 5/6 7 'a' ''", ""},
        /* A text longer than the payload, a number without an end, one of more than 64 bits,
           nothing. */
        {{5, 1, false, "00098020802105004d"}, NULL, NULL},
        {{0, 1, false, "ff"}, NULL, NULL},
        {{0, 1, false, "ffffffffffffffffff02"}, NULL, NULL},
        {{0, 1, false, ""}, NULL, NULL},
        {{2, 1, false, "0703"}, NULL, NULL},
        /* Not known. */
        {{6, 1, false, "0703006162630000"}, NULL, NULL},
        {{7, 1, false, "01"}, NULL, NULL},
        {{8, 1, false, "0100000000"}, NULL, NULL},
};

START_TEST(test_event)
{
        g_autoptr(GByteArray) stream = stream_of(&EVENTS[_i].event, 1);
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);
        g_autoptr(GString) taken = g_string_new(NULL), read = g_string_new(NULL);
        g_autofree char *want =
                EVENTS[_i].record
                        ? g_strdup_printf("%s on 3%s; ", EVENTS[_i].record, EVENTS[_i].stack)
                        : g_strdup("");
        g_autoptr(GError) error = NULL;
        FeederReport report;
        StreamGap gap;
        Record record;

        nettrace_reader_take_universal(reader, write_universal, taken);
        ck_assert(nettrace_reader_push(reader, stream->data, stream->len, &error));
        nettrace_reader_finish(reader);
        ck_assert_str_eq(taken->str, want);
        while (nettrace_reader_next(reader, &record, &gap) == NETTRACE_ITEM_RECORD)
                write_record(read, &record);
        ck_assert_str_eq(read->str, EVENTS[_i].record ? EVENTS[_i].record : "");
        nettrace_reader_report(reader, &report);
        ck_assert_uint_eq(report.decode_errors + report.unknown_events, !EVENTS[_i].record);
        nettrace_reader_free(reader);
}
END_TEST

/* What is left out has a name. */
START_TEST(test_unknown)
{
        static const TestEvent UNKNOWN[] = {
                {6, 1, false, "0703006162630000"},
                {7, 1, false, "01"},
                {8, 1, false, "0100000000"},
        };
        g_autoptr(GByteArray) stream = stream_of(UNKNOWN, G_N_ELEMENTS(UNKNOWN));
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_ALL);
        g_autoptr(GString) lines = g_string_new(NULL);

        ck_assert(nettrace_reader_push(reader, stream->data, stream->len, NULL));
        event_counts_append_unknown(nettrace_reader_counts(reader), lines);
        ck_assert_str_eq(
                lines->str,
                "clrsym: Universal.Events:page-fault (event 3, version 0): 1 events skipped: not "
                "an "
                "event that clrsym reads\n"
                "clrsym: Universal.System:ProcessCreate (event 1, version 1): 1 events skipped: "
                "not "
                "an event that clrsym reads\n"
                "clrsym: Universal.System:ProcessMappingMetadata (event 5, version 0): 1 events "
                "skipped: not an event that clrsym reads\n");
        nettrace_reader_free(reader);
}
END_TEST

/* Code maps are made of other events. */
START_TEST(test_not_wanted)
{
        g_autoptr(GByteArray) stream = stream_of(&EVENTS[0].event, 1);
        NettraceReader *reader = nettrace_reader_new(EVENT_USE_CODE_MAPS);
        g_autoptr(GString) taken = g_string_new(NULL);
        StreamGap gap;
        Record record;

        nettrace_reader_take_universal(reader, write_universal, taken);
        ck_assert(nettrace_reader_push(reader, stream->data, stream->len, NULL));
        nettrace_reader_finish(reader);
        ck_assert_str_eq(taken->str, "cpu 5/6 1 on 3 1000 ffffffff81000000; ");
        ck_assert_int_eq(nettrace_reader_next(reader, &record, &gap), NETTRACE_ITEM_NONE);
        nettrace_reader_free(reader);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("nettrace universal");
        TCase *all = tcase_create("all");

        tcase_add_loop_test(all, test_event, 0, G_N_ELEMENTS(EVENTS));
        tcase_add_test(all, test_unknown);
        tcase_add_test(all, test_not_wanted);
        suite_add_tcase(suite, all);
        return suite;
}
