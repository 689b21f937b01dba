/* SPDX-License-Identifier: MIT */
#include "event/decode.h"
#include "event/method-flags.h"

#include "support/suite.h"

#include <string.h>

/* The event table: properties that the decoder and the protocol rely on. */

START_TEST(test_row_is_sound)
{
        const Event *event = &event_table[_i];
        g_autofree char *name = NULL;
        unsigned i, j;

        ck_assert_int_lt(event->provider, _PROVIDER_MAX);
        ck_assert_int_lt(event->kind, _EVENT_KIND_MAX);
        ck_assert_uint_le(event->n_fields, EVENT_MAX_FIELDS);

        for (i = 0; i < event->n_fields; i++) {
                const Field *field = &event->fields[i];

                ck_assert_int_lt(field->type, _FIELD_TYPE_MAX);
                ck_assert_int_lt(field->name, _FIELD_NAME_MAX);
                ck_assert_int_eq(event_field(event, field->name), (int)i);
                for (j = 0; j < i; j++)
                        ck_assert_int_ne(event->fields[j].name, field->name);
                if (field_type_element_size(field->type)) {
                        int count = event_count_field(event, i);

                        ck_assert_int_ge(count, 0);
                        ck_assert_int_lt(count, (int)i);
                        ck_assert(event->fields[count].type == FIELD_TYPE_U16 ||
                                  event->fields[count].type == FIELD_TYPE_U32);
                }
        }
        ck_assert_int_eq(event_field(event, _FIELD_NAME_MAX), -1);

        name = g_strdup_printf("%s:%s", provider_name(event->provider), event->name);
        ck_assert_ptr_eq(event_by_name(name), event);
        ck_assert_ptr_eq(event_by_id(event->provider, event->id, event->version), event);
        /* Events of collect-linux are not events of LTTng. */
        ck_assert_int_eq(event_name_is_dotnet(name), event->provider < PROVIDER_ASYNC);
}
END_TEST

START_TEST(test_rows_are_sorted)
{
        size_t i;

        for (i = 1; i < n_event_table; i++) {
                const Event *a = &event_table[i - 1], *b = &event_table[i];

                ck_assert(a->provider < b->provider ||
                          (a->provider == b->provider &&
                           (a->id < b->id || (a->id == b->id && a->version < b->version))));
        }
}
END_TEST

/* A later version of an event only appends fields, means the same, and is named with its number. */
START_TEST(test_versions_append)
{
        size_t i;

        for (i = 1; i < n_event_table; i++) {
                const Event *a = &event_table[i - 1], *b = &event_table[i];
                bool is_assembly = strstr(a->name, "Assembly") != NULL;
                unsigned j;

                if (a->provider != b->provider || a->id != b->id)
                        continue;
                ck_assert_int_eq(a->kind, b->kind);
                ck_assert_int_eq(b->version, a->version + 1);
                ck_assert_int_eq(b->name[strlen(b->name) - 1], '0' + b->version);
                ck_assert_uint_gt(b->n_fields, a->n_fields);
                /* The assembly events are an exception in the manifest: BindingID was inserted. */
                for (j = 0; j < a->n_fields && !is_assembly; j++) {
                        ck_assert_int_eq(a->fields[j].name, b->fields[j].name);
                        ck_assert_int_eq(a->fields[j].type, b->fields[j].type);
                }
        }
}
END_TEST

/* The runtime packs events with more than nine fields; the numbers of fields decide. */
static const struct {
        const char *name;
        unsigned n_fields;
} FIELD_COUNTS[] = {
        {"DotNETRuntime:MethodLoad", 6},
        {"DotNETRuntime:MethodLoadVerbose", 9},
        {"DotNETRuntime:MethodLoadVerbose_V1", 10},
        {"DotNETRuntime:MethodLoadVerbose_V2", 11},
        {"DotNETRuntime:MethodJittingStarted_V1", 8},
        {"DotNETRuntime:MethodILToNativeMap_V1", 8},
        {"DotNETRuntime:ModuleLoad_V1", 7},
        {"DotNETRuntime:ModuleLoad_V2", 13},
        {"DotNETRuntime:RuntimeInformationStart", 15},
        {"DotNETRuntime:MethodJitInliningSucceeded", 10},
        {"DotNETRuntime:MethodJitTailCallFailedAnsi", 12},
        {"DotNETRuntime:DCEndCompleteV2", 0},
        {"DotNETRuntimeRundown:MethodDCEndVerbose_V2", 11},
        {"DotNETRuntimeRundown:ModuleDCEnd_V2", 13},
        {"DotNETRuntimeRundown:DCEndInit_V1", 1},
        {"DotNETRuntimeRundown:DCEndInit", 0},
};

START_TEST(test_field_count)
{
        const Event *event = event_by_name(FIELD_COUNTS[_i].name);

        ck_assert_ptr_nonnull(event);
        ck_assert_uint_eq(event->n_fields, FIELD_COUNTS[_i].n_fields);
}
END_TEST

static const char *const NO_ROWS[] = {
        "",
        ":",
        "MethodLoad",
        "DotNETRuntime",
        "DotNETRuntime:",
        "DotNETRuntime:MethodLoad_V3",
        "DotNETRuntime:ModuleLoad_V3",
        "DotNETRuntimeRundown:ModuleDCEnd_V3",
        "DotNETRuntime:MethodLoadX",
        "DotNETRuntime:GCTriggered_V1",
        "DotNETRuntimeX:MethodLoad",
        "DotNET:MethodLoad",
        "DotNETRuntimeRundown:MethodLoad", /* event of the other provider */
        "DotNETRuntimePrivate:MethodLoad",
};

START_TEST(test_no_row)
{
        ck_assert_ptr_null(event_by_name(NO_ROWS[_i]));
}
END_TEST

START_TEST(test_no_id)
{
        ck_assert_ptr_null(event_by_id(0, 0, 0));
        ck_assert_ptr_null(event_by_id(PROVIDER_RUNTIME, 143, 3));
        ck_assert_ptr_null(event_by_id(PROVIDER_RUNTIME, 65535, 255));
        ck_assert_ptr_null(event_by_id(_PROVIDER_MAX, 143, 1));
        ck_assert_ptr_null(event_by_id(UINT_MAX, UINT_MAX, UINT_MAX));
}
END_TEST

static const struct {
        const char *name;
        unsigned id, version;
        const char *row; /* NULL: no such row */
        bool is_later;
} LATER[] = {
        {"DotNETRuntime:MethodLoadVerbose_V2", 143, 2, "MethodLoadVerbose_V2", false},
        {"DotNETRuntime:MethodLoadVerbose_V3", 143, 3, "MethodLoadVerbose_V2", true},
        {"DotNETRuntime:MethodLoadVerbose_V200", 143, 200, "MethodLoadVerbose_V2", true},
        {"DotNETRuntime:MethodLoadVerbose_V2000", 143, UINT_MAX, NULL, true},
        {"DotNETRuntime:MethodLoadVerbose", 143, 0, "MethodLoadVerbose", false},
        {"DotNETRuntime:MethodLoadVerbose_V", 65535, 3, NULL, false},
        {"DotNETRuntime:MethodLoadVerbose_V3x", 65535, 3, NULL, false},
        {"DotNETRuntime:MethodLoadVerbos_V3", 65535, 3, NULL, false},
        {"DotNETRuntimePrivate:MethodLoadVerbose_V3", 65535, 3, NULL, false},
};

START_TEST(test_later)
{
        bool is_later = true;
        const Event *event = event_by_name_or_later(LATER[_i].name, &is_later);

        ck_assert_int_eq(event != NULL, LATER[_i].row != NULL);
        if (event) {
                ck_assert_str_eq(event->name, LATER[_i].row);
                ck_assert_int_eq(is_later, LATER[_i].is_later);
        }
        event = event_by_id_or_later(PROVIDER_RUNTIME, LATER[_i].id, LATER[_i].version, &is_later);
        if (LATER[_i].id == 65535)
                ck_assert_ptr_null(event);
        else
                ck_assert_int_eq(is_later, LATER[_i].is_later);
}
END_TEST

/* Decodes a row from a source that counts the calls. */

typedef struct CountingSource {
        Source source;
        unsigned n_read;
        unsigned fail_at;
        uint32_t count; /* the last requested count */
        DecodeResult finish_result;
} CountingSource;

static DecodeResult counting_read(Source *source, unsigned index, FieldType type, uint32_t count,
                                  Value *ret_value)
{
        CountingSource *counting = (CountingSource *)source;

        ck_assert_uint_eq(index, counting->n_read);
        if (counting->n_read++ == counting->fail_at)
                return DECODE_MISMATCH;
        counting->count = count;
        ret_value->u = 100 + index;
        return DECODE_OK;
}

static DecodeResult counting_finish(Source *source)
{
        return ((CountingSource *)source)->finish_result;
}

static CountingSource counting_source(unsigned fail_at, DecodeResult finish_result)
{
        return (CountingSource){
                .source = {.read = counting_read, .finish = counting_finish},
                .fail_at = fail_at,
                .finish_result = finish_result,
        };
}

START_TEST(test_walk_stops_at_error)
{
        const Event *event = event_by_name("DotNETRuntime:MethodLoadVerbose_V2");
        CountingSource counting = counting_source((unsigned)_i, DECODE_OK);
        Record record = {0};

        ck_assert_int_eq(decode_record(event, &counting.source, &record), DECODE_MISMATCH);
        ck_assert_uint_eq(counting.n_read, _i + 1);
}
END_TEST

START_TEST(test_walk_reports_finish)
{
        const Event *event = event_by_name("DotNETRuntime:DCEndCompleteV2");
        CountingSource counting = counting_source(UINT_MAX, DECODE_LEFTOVER);
        Record record = {0};

        ck_assert_int_eq(decode_record(event, &counting.source, &record), DECODE_LEFTOVER);
}
END_TEST

START_TEST(test_walk_fills_record)
{
        const Event *event = event_by_name("DotNETRuntime:MethodILToNativeMap_V1");
        CountingSource counting = counting_source(UINT_MAX, DECODE_OK);
        Record record = {.time = 7, .process = {.pid = 8}, .tid = 9};
        unsigned i;

        /* Values of an earlier event must not remain. */
        memset(record.values, 0xff, sizeof(record.values));
        ck_assert_int_eq(decode_record(event, &counting.source, &record), DECODE_OK);
        ck_assert_ptr_eq(record.event, event);
        ck_assert_uint_eq(record.time, 7);
        ck_assert_int_eq(record.process.pid, 8);
        ck_assert_int_eq(record.tid, 9);
        for (i = 0; i < event->n_fields; i++) {
                ck_assert_uint_eq(record.values[i].u, 100 + i);
                ck_assert_ptr_null(record.values[i].data);
                ck_assert_uint_eq(record.values[i].n, 0);
        }
        ck_assert_uint_eq(record_u64(&record, FIELD_ILVersionID), 107);
        ck_assert_ptr_eq(record_value(&record, FIELD_MethodID), &record.values[0]);
        ck_assert_ptr_null(record_value(&record, FIELD_MethodName));
        ck_assert_uint_eq(record_u64(&record, FIELD_MethodName), 0);
}
END_TEST

START_TEST(test_walk_gives_count)
{
        /* If the row ends after the array, the last requested count is the array's. */
        Event event = *event_by_name("DotNETRuntime:MethodDetails");
        CountingSource counting = counting_source(UINT_MAX, DECODE_OK);
        Record record = {0};

        ck_assert_int_eq(event.fields[5].type, FIELD_TYPE_U64_ARRAY);
        ck_assert_int_eq(event.fields[3].name, FIELD_TypeParameterCount);
        ck_assert_int_eq(decode_record(&event, &counting.source, &record), DECODE_OK);
        ck_assert_uint_eq(counting.count, 103);
        event.n_fields = 5;
        counting = counting_source(UINT_MAX, DECODE_OK);
        ck_assert_int_eq(decode_record(&event, &counting.source, &record), DECODE_OK);
        ck_assert_uint_eq(counting.count, 0);
}
END_TEST

/* Flags of real events. */
static const struct {
        uint32_t flags;
        const char *tier;
} TIERS[] = {
        {0x0, "ReadyToRun"},
        {0x100, "ReadyToRun"},
        {0x102, "ReadyToRun"},
        {0x106, "ReadyToRun"},
        {0x8, "Unknown"},
        {0x88, "MinOptJitted"},
        {0x108, "Optimized"},
        {0x109, "Optimized"},
        {0x188, "QuickJitted"},
        {0x1c8, "QuickJitted"},
        {0x208, "OptimizedTier1"},
        {0x20e, "OptimizedTier1"},
        {0x288, "OptimizedTier1OSR"},
        {0x308, "InstrumentedTier"},
        {0x388, "InstrumentedTierOptimized"},
        {0x10000408, "Unknown"}, /* only three bits hold the tier */
        {0xffffffff, "InstrumentedTierOptimized"},
};

START_TEST(test_tier)
{
        ck_assert_str_eq(tier_name(TIERS[_i].flags), TIERS[_i].tier);
}
END_TEST

START_TEST(test_result_names)
{
        ck_assert_str_eq(decode_result_name((DecodeResult)_i),
                         ((const char *[]){"ok", "truncated", "bytes left over",
                                           "fields not as expected"})[_i]);
}
END_TEST

START_TEST(test_scratch)
{
        DecodeScratch scratch = DECODE_SCRATCH_INIT;
        uint8_t *first, *second;

        decode_scratch_reserve(&scratch, 100);
        first = decode_scratch_take(&scratch, 60);
        memset(first, 1, 60);
        second = decode_scratch_take(&scratch, 40);
        memset(second, 2, 40);
        /* Reserved memory does not move. */
        ck_assert_ptr_eq(second, first + 60);
        memset(decode_scratch_take(&scratch, 1000), 3, 1000);
        ck_assert_uint_eq(scratch.bytes[59], 1);
        ck_assert_uint_eq(scratch.bytes[99], 2);
        ck_assert_uint_eq(scratch.bytes[1099], 3);
        decode_scratch_reset(&scratch);
        ck_assert_ptr_eq(decode_scratch_take(&scratch, 1), scratch.bytes);
        decode_scratch_deinit(&scratch);
        ck_assert_ptr_null(scratch.bytes);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("decode");
        TCase *table = tcase_create("table"), *walk = tcase_create("walk");

        tcase_add_loop_test(table, test_no_row, 0, G_N_ELEMENTS(NO_ROWS));
        tcase_add_test(table, test_no_id);
        tcase_add_loop_test(table, test_later, 0, G_N_ELEMENTS(LATER));
        tcase_add_loop_test(table, test_row_is_sound, 0, (int)n_event_table);
        tcase_add_test(table, test_rows_are_sorted);
        tcase_add_test(table, test_versions_append);
        tcase_add_loop_test(table, test_field_count, 0, G_N_ELEMENTS(FIELD_COUNTS));
        tcase_add_loop_test(table, test_tier, 0, G_N_ELEMENTS(TIERS));
        suite_add_tcase(suite, table);

        tcase_add_loop_test(walk, test_walk_stops_at_error, 0, 11);
        tcase_add_test(walk, test_walk_reports_finish);
        tcase_add_test(walk, test_walk_fills_record);
        tcase_add_test(walk, test_walk_gives_count);
        tcase_add_loop_test(walk, test_result_names, 0, _DECODE_RESULT_MAX);
        tcase_add_test(walk, test_scratch);
        suite_add_tcase(suite, walk);
        return suite;
}
