/* SPDX-License-Identifier: MIT */

/*
 * Universal events of a nettrace stream, as dotnet-trace collect-linux writes them:
 * UniversalProviders.md of microsoft/perfview
 */

#include "event/event-counts.h"
#include "nettrace/reader.h"

#include "support/suite.h"
#include "support/universal-stream.h"

#include <string.h>

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
        UniversalTestEvent event;
        const char *record; /* NULL: the event is not decoded */
        const char *stack;
} EVENTS[] = {
        {{UNIVERSAL_CPU, 1, true, "01"}, "cpu 5/6 1", " 1000 ffffffff81000000"},
        {{UNIVERSAL_CPU, 2, true, "01"}, "cpu 0/0 1", " 1000 ffffffff81000000"},
        {{UNIVERSAL_SWITCH, 1, true, "80a094a58d1d"},
         "cswitch 5/6 e8d4a51000",
         " 1000 ffffffff81000000"},
        {{UNIVERSAL_PROCESS, 1, false, "0703006162630000"}, "ExistingProcess 5/6 7 'abc' ''", ""},
        {{UNIVERSAL_EXIT, 1, false, ""}, "ProcessExit 5/6", ""},
        /* The payload has more fields than the metadata describes. */
        {{UNIVERSAL_MAPPING, 1, false, "098020ff3f8080800103002f612e0c0100780000"},
         "ProcessMapping 5/6 9 1000 1fff 200000 '/a.' c",
         ""},
        {{UNIVERSAL_SYMBOL, 1, false, "00098020802101004d"},
         "ProcessSymbol 5/6 0 9 1000 1080 'M'",
         ""},
        /* A text that is not UTF-8; the largest number. */
        {{UNIVERSAL_SYMBOL, 1, false,
          "0009ffffffffffffffffff018021"
          "0100ff"},
         "ProcessSymbol 5/6 0 9 ffffffffffffffff 1080 '\357\277\275'",
         ""},
        {{UNIVERSAL_PROCESS, 1, false, "0703006100630000"}, "ExistingProcess 5/6 7 'a' ''", ""},
        /* A text longer than the payload, a number without an end, a number of more than 64 bits,
         * and an empty payload. */
        {{UNIVERSAL_SYMBOL, 1, false, "00098020802105004d"}, NULL, NULL},
        {{UNIVERSAL_CPU, 1, false, "ff"}, NULL, NULL},
        {{UNIVERSAL_CPU, 1, false, "ffffffffffffffffff02"}, NULL, NULL},
        {{UNIVERSAL_CPU, 1, false, ""}, NULL, NULL},
        {{UNIVERSAL_PROCESS, 1, false, "0703"}, NULL, NULL},
        /* Unknown events. */
        {{UNIVERSAL_LATER_PROCESS, 1, false, "0703006162630000"}, NULL, NULL},
        {{UNIVERSAL_OTHER_SAMPLE, 1, false, "01"}, NULL, NULL},
        {{UNIVERSAL_OTHER_FIELDS, 1, false, "0100000000"}, NULL, NULL},
};

START_TEST(test_event)
{
        g_autoptr(GByteArray) stream = universal_stream(&EVENTS[_i].event, 1);
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

/* The reader names the events that it skips. */
START_TEST(test_unknown)
{
        static const UniversalTestEvent UNKNOWN[] = {
                {UNIVERSAL_LATER_PROCESS, 1, false, "0703006162630000"},
                {UNIVERSAL_OTHER_SAMPLE, 1, false, "01"},
                {UNIVERSAL_OTHER_FIELDS, 1, false, "0100000000"},
        };
        g_autoptr(GByteArray) stream = universal_stream(UNKNOWN, G_N_ELEMENTS(UNKNOWN));
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

/* Code maps come from other events. */
START_TEST(test_not_wanted)
{
        g_autoptr(GByteArray) stream = universal_stream(&EVENTS[0].event, 1);
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
