/* SPDX-License-Identifier: MIT */
#include "event/decode.h"
#include "event/method-flags.h"
#include "event/type-list.h"

#include "support/suite.h"

#include <string.h>

/*
 * The test makes blobs from the rows: each field has a value that identifies the field. All blobs
 * are on the heap in their exact size, so that the address sanitizer sees a read beyond the end.
 */

enum {
        N_ELEMENTS = 3,
};

static void put_le(GByteArray *blob, uint64_t value, unsigned n)
{
        unsigned i;

        for (i = 0; i < n; i++) {
                uint8_t byte = (uint8_t)(value >> 8 * i);

                g_byte_array_append(blob, &byte, 1);
        }
}

static void put_wstring(GByteArray *blob, const char *text)
{
        glong n;
        g_autofree gunichar2 *units = g_utf8_to_utf16(text, -1, NULL, &n, NULL);
        glong i;

        for (i = 0; i <= n; i++)
                put_le(blob, units[i], 2);
}

static uint64_t number_of(unsigned index, FieldName name)
{
        if (name == FIELD_MethodFlags)
                return 0x188;
        if (name == FIELD_CountOfMapEntries || name == FIELD_TypeParameterCount ||
            name == FIELD_DataSize || name == FIELD_Count)
                return N_ELEMENTS;
        return UINT64_C(0xf1e2d3c4b5a69700) + index;
}

static uint64_t element_of(unsigned index, unsigned element)
{
        return UINT64_C(0xfffffffffffffff0) - 16 * index - element;
}

static char *text_of(unsigned index)
{
        return g_strdup_printf("field %u: é日😀", index);
}

/* Writes type ELEMENT of a list: ELEMENT arguments, and a name if ELEMENT is not 0. */
static void put_type(GByteArray *blob, unsigned index, unsigned element)
{
        unsigned i;

        put_le(blob, element_of(index, element), 8);
        put_le(blob, element_of(index + 1, element), 8);
        put_le(blob, 0x02000001 + element, 4);
        put_le(blob, 0x308, 4);
        put_le(blob, 0x11 + element, 1);
        put_wstring(blob, element ? "日😀" : "");
        put_le(blob, element, 4);
        for (i = 0; i < element; i++)
                put_le(blob, element_of(index, i), 8);
}

static void check_types(const Value *value, unsigned index)
{
        const uint8_t *at = value->data;
        size_t n = value->n;
        unsigned element, i;
        TypeRow row;

        for (element = 0; element < N_ELEMENTS; element++) {
                ck_assert(type_list_next(&at, &n, &row));
                ck_assert_uint_eq(row.type_id, element_of(index, element));
                ck_assert_uint_eq(row.module_id, element_of(index + 1, element));
                ck_assert_uint_eq(row.token, 0x02000001 + element);
                ck_assert_uint_eq(row.flags, 0x308);
                ck_assert_uint_eq(row.element_type, 0x11 + element);
                ck_assert_uint_eq(row.n_arguments, element);
                for (i = 0; i < element; i++)
                        ck_assert_uint_eq(type_row_argument(&row, i), element_of(index, i));
        }
        ck_assert_uint_eq(n, 0);
        ck_assert(!type_list_next(&at, &n, &row));
}

static void put_field(GByteArray *blob, const Field *field, unsigned index)
{
        g_autofree char *text = text_of(index);
        unsigned i;

        switch (field->type) {
        case FIELD_TYPE_U8:
                put_le(blob, number_of(index, field->name), 1);
                break;
        case FIELD_TYPE_U16:
                put_le(blob, number_of(index, field->name), 2);
                break;
        case FIELD_TYPE_U32:
                put_le(blob, number_of(index, field->name), 4);
                break;
        case FIELD_TYPE_U64:
                put_le(blob, number_of(index, field->name), 8);
                break;
        case FIELD_TYPE_BOOL:
                put_le(blob, 1, 4);
                break;
        case FIELD_TYPE_GUID:
                for (i = 0; i < 16; i++)
                        put_le(blob, 16 * index + i, 1);
                break;
        case FIELD_TYPE_WSTRING:
                put_wstring(blob, text);
                break;
        case FIELD_TYPE_ASTRING:
                g_byte_array_append(blob, (const uint8_t *)text, (guint)strlen(text) + 1);
                break;
        case FIELD_TYPE_U64_ARRAY:
        case FIELD_TYPE_IL_OFFSETS:
        case FIELD_TYPE_U32_ARRAY:
        case FIELD_TYPE_U8_ARRAY:
                for (i = 0; i < N_ELEMENTS; i++)
                        put_le(blob, element_of(index, i), field_type_element_size(field->type));
                break;
        case FIELD_TYPE_TYPE_LIST:
                for (i = 0; i < N_ELEMENTS; i++)
                        put_type(blob, index, i);
                break;
        case _FIELD_TYPE_MAX:
                ck_abort();
        }
}

static GByteArray *blob_new(const Event *event)
{
        GByteArray *blob = g_byte_array_new();
        unsigned i;

        for (i = 0; i < event->n_fields; i++)
                put_field(blob, &event->fields[i], i);
        return blob;
}

static void check_number(const Value *value, unsigned index, FieldName name, unsigned size)
{
        ck_assert_uint_eq(value->u, number_of(index, name) & (UINT64_MAX >> (64 - 8 * size)));
}

static void check_value(const Field *field, unsigned index, const Value *value)
{
        g_autofree char *text = text_of(index);
        unsigned i, size = field_type_element_size(field->type);

        switch (field->type) {
        case FIELD_TYPE_U8:
                check_number(value, index, field->name, 1);
                break;
        case FIELD_TYPE_U16:
                check_number(value, index, field->name, 2);
                break;
        case FIELD_TYPE_U32:
                check_number(value, index, field->name, 4);
                break;
        case FIELD_TYPE_U64:
                check_number(value, index, field->name, 8);
                break;
        case FIELD_TYPE_BOOL:
                ck_assert_uint_eq(value->u, 1);
                break;
        case FIELD_TYPE_GUID:
                ck_assert_uint_eq(value->n, 16);
                for (i = 0; i < 16; i++)
                        ck_assert_uint_eq(value->data[i], (uint8_t)(16 * index + i));
                break;
        case FIELD_TYPE_WSTRING:
        case FIELD_TYPE_ASTRING:
                ck_assert_uint_eq(value->n, strlen(text));
                ck_assert_mem_eq(value->data, text, value->n);
                break;
        case FIELD_TYPE_U64_ARRAY:
        case FIELD_TYPE_IL_OFFSETS:
        case FIELD_TYPE_U32_ARRAY:
        case FIELD_TYPE_U8_ARRAY:
                ck_assert_uint_eq(value->n, N_ELEMENTS);
                for (i = 0; i < N_ELEMENTS * size; i++)
                        ck_assert_uint_eq(value->data[i],
                                          (uint8_t)(element_of(index, i / size) >> 8 * (i % size)));
                break;
        case FIELD_TYPE_TYPE_LIST:
                check_types(value, index);
                break;
        case _FIELD_TYPE_MAX:
                ck_abort();
        }
}

static DecodeResult decode(const Event *event, const uint8_t *bytes, size_t n,
                           DecodeScratch *scratch, Record *record)
{
        decode_scratch_reset(scratch);
        return packed_decode(event, false, bytes, n, scratch, record);
}

/* Decodes a copy of the exact size; the record must not be used afterwards. */
static DecodeResult decode_copy(const Event *event, const uint8_t *bytes, size_t n)
{
        g_autofree uint8_t *copy = g_memdup2(bytes, n);
        DecodeScratch scratch = DECODE_SCRATCH_INIT;
        Record record = {0};
        DecodeResult result = decode(event, copy, n, &scratch, &record);

        decode_scratch_deinit(&scratch);
        return result;
}

/* Each row, truncated at each length: always an error, never a guess. */
START_TEST(test_truncated)
{
        const Event *event = &event_table[_i];
        g_autoptr(GByteArray) blob = blob_new(event);
        size_t n;

        for (n = 0; n < blob->len; n++)
                ck_assert_int_eq(decode_copy(event, blob->data, n), DECODE_TRUNCATED);
}
END_TEST

START_TEST(test_leftover)
{
        const Event *event = &event_table[_i];
        g_autoptr(GByteArray) blob = blob_new(event);

        put_le(blob, 0, 1);
        ck_assert_int_eq(decode_copy(event, blob->data, blob->len), DECODE_LEFTOVER);
        put_le(blob, 0, 8);
        ck_assert_int_eq(decode_copy(event, blob->data, blob->len), DECODE_LEFTOVER);
}
END_TEST

/* A later version has more fields. */
START_TEST(test_later)
{
        const Event *event = &event_table[_i];
        g_autoptr(GByteArray) blob = blob_new(event);
        DecodeScratch scratch = DECODE_SCRATCH_INIT;
        Record record = {0};
        unsigned i, n = blob->len;

        put_le(blob, 0, 8);
        put_le(blob, 0, 1);
        ck_assert_int_eq(packed_decode(event, true, blob->data, blob->len, &scratch, &record),
                         DECODE_OK);
        for (i = 0; i < event->n_fields; i++)
                check_value(&event->fields[i], i, &record.values[i]);
        if (n)
                ck_assert_int_eq(packed_decode(event, true, blob->data, n - 1, &scratch, &record),
                                 DECODE_TRUNCATED);
        decode_scratch_deinit(&scratch);
}
END_TEST

START_TEST(test_whole)
{
        const Event *event = &event_table[_i];
        g_autoptr(GByteArray) blob = blob_new(event);
        DecodeScratch scratch = DECODE_SCRATCH_INIT;
        Record record = {0};
        unsigned i;

        ck_assert_int_eq(decode(event, blob->data, blob->len, &scratch, &record), DECODE_OK);
        ck_assert_ptr_eq(record.event, event);
        for (i = 0; i < event->n_fields; i++)
                check_value(&event->fields[i], i, &record.values[i]);
        decode_scratch_deinit(&scratch);
}
END_TEST

/* Random bytes: no crash and no read beyond the end. The seed is fixed. */
START_TEST(test_garbage)
{
        const Event *event = &event_table[_i];
        g_autoptr(GRand) random = g_rand_new_with_seed(20261121);
        unsigned round;

        for (round = 0; round < 2000; round++) {
                g_autoptr(GByteArray) blob = blob_new(event);
                unsigned i;

                for (i = 0; blob->len && i < 1 + round % 8; i++)
                        blob->data[g_rand_int_range(random, 0, (int)blob->len)] =
                                (uint8_t)g_rand_int(random);
                ck_assert_int_lt(decode_copy(event, blob->data, blob->len), _DECODE_RESULT_MAX);
        }
}
END_TEST

/* Counts that are too large or too small. */
static const struct {
        const char *name;
        size_t offset; /* offset of the count */
        unsigned size;
        uint64_t count;
        DecodeResult result;
} COUNTS[] = {
        {"DotNETRuntime:MethodILToNativeMap_V1", 17, 2, 0xffff, DECODE_TRUNCATED},
        {"DotNETRuntime:MethodILToNativeMap_V1", 17, 2, 4, DECODE_TRUNCATED},
        {"DotNETRuntime:MethodILToNativeMap_V1", 17, 2, 2, DECODE_LEFTOVER},
        {"DotNETRuntime:MethodILToNativeMap_V1", 17, 2, 0, DECODE_LEFTOVER},
        {"DotNETRuntimeRundown:MethodDCEndILToNativeMap", 17, 2, 0x8000, DECODE_TRUNCATED},
        {"DotNETRuntime:MethodDetails", 20, 4, 0xffffffff, DECODE_TRUNCATED},
        {"DotNETRuntime:MethodDetails", 20, 4, 0x20000000, DECODE_TRUNCATED}, /* x 8 = 2^32 */
        {"DotNETRuntime:MethodDetails", 20, 4, 4, DECODE_TRUNCATED},
        {"DotNETRuntime:MethodDetails", 20, 4, 2, DECODE_LEFTOVER},
        {"DotNETRuntime:MethodDetails", 20, 4, 3, DECODE_OK},
        {"DotNETRuntime:BulkType", 0, 4, UINT32_MAX, DECODE_TRUNCATED},
        {"DotNETRuntime:BulkType", 0, 4, 4, DECODE_TRUNCATED},
        {"DotNETRuntime:BulkType", 0, 4, 2, DECODE_LEFTOVER},
        {"DotNETRuntime:BulkType", 0, 4, 0, DECODE_LEFTOVER},
        {"DotNETRuntimePrivate:JittedMethodRichDebugInfo", 30, 4, UINT32_MAX, DECODE_TRUNCATED},
        {"DotNETRuntimePrivate:JittedMethodRichDebugInfo", 30, 4, 4, DECODE_TRUNCATED},
        {"DotNETRuntimePrivate:JittedMethodRichDebugInfo", 30, 4, 2, DECODE_LEFTOVER},
        {"DotNETRuntimePrivate:JittedMethodRichDebugInfo", 30, 4, 3, DECODE_OK},
};

START_TEST(test_count)
{
        const Event *event = event_by_name(COUNTS[_i].name);
        g_autoptr(GByteArray) blob = blob_new(event);
        unsigned i;

        for (i = 0; i < COUNTS[_i].size; i++)
                blob->data[COUNTS[_i].offset + i] = (uint8_t)(COUNTS[_i].count >> 8 * i);
        ck_assert_int_eq(decode_copy(event, blob->data, blob->len), COUNTS[_i].result);
}
END_TEST

/* A size above the limit of a blob: refused before the blob is read or memory is allocated. */
START_TEST(test_enormous)
{
        const Event *event = event_by_name("DotNETRuntime:MethodLoadVerbose_V1");
        g_autoptr(GByteArray) blob = blob_new(event);
        DecodeScratch scratch = DECODE_SCRATCH_INIT;
        Record record = {0};

        ck_assert_int_eq(decode(event, blob->data, SIZE_MAX, &scratch, &record), DECODE_MISMATCH);
        ck_assert_ptr_null(scratch.bytes);
}
END_TEST

START_TEST(test_unterminated)
{
        const Event *event = event_by_name("DotNETRuntime:MethodLoadVerbose_V1");
        g_autoptr(GByteArray) blob = g_byte_array_new();
        unsigned i;

        /* Fixed fields without a terminator; then two zero bytes that belong to two units. */
        for (i = 0; i < 6; i++)
                put_field(blob, &event->fields[i], i);
        for (i = 0; i < 20; i++)
                put_le(blob, i % 2 ? 0x0061 : 0x6100, 2);
        ck_assert_int_eq(decode_copy(event, blob->data, blob->len), DECODE_TRUNCATED);
        /* Half of a unit at the end is not a terminator. */
        put_le(blob, 0, 1);
        ck_assert_int_eq(decode_copy(event, blob->data, blob->len), DECODE_TRUNCATED);
}
END_TEST

START_TEST(test_odd_values)
{
        const Event *event = event_by_name("DotNETRuntime:MethodJitInliningFailedAnsi");
        g_autoptr(GByteArray) blob = g_byte_array_new();
        DecodeScratch scratch = DECODE_SCRATCH_INIT;
        Record record = {0};
        unsigned i;

        for (i = 0; i < 9; i++) {
                put_le(blob, 0xd800, 2); /* unpaired */
                put_le(blob, 0, 2);
        }
        put_le(blob, 0x100, 4); /* true in another form than 1 */
        g_byte_array_append(blob, (const uint8_t *)"\xe9\xff", 3);
        put_le(blob, 7, 2);

        ck_assert_int_eq(decode(event, blob->data, blob->len, &scratch, &record), DECODE_OK);
        for (i = 0; i < 9; i++) {
                ck_assert_uint_eq(record.values[i].n, 3);
                ck_assert_mem_eq(record.values[i].data, "\xef\xbf\xbd", 3);
        }
        ck_assert_uint_eq(record_u64(&record, FIELD_FailAlways), 1);
        ck_assert_uint_eq(record_value(&record, FIELD_FailReason)->n, 6);
        ck_assert_mem_eq(record_value(&record, FIELD_FailReason)->data, "\xef\xbf\xbd\xef\xbf\xbd",
                         6);
        ck_assert_uint_eq(record_u64(&record, FIELD_ClrInstanceID), 7);
        decode_scratch_deinit(&scratch);
}
END_TEST

/* Stub helpers: their NULL strings take no bytes. */

typedef struct Helper {
        const char *event;
        uint32_t flags;
        const char *name_space; /* NULL: no bytes */
        const char *name;
        const char *signature;
        DecodeResult result;
} Helper;

static const Helper HELPERS[] = {
        /* Without the flag, a missing string is an error. */
        {"DotNETRuntime:MethodLoadVerbose_V1", 0x8, NULL, "Stub", NULL, DECODE_TRUNCATED},
        {"DotNETRuntime:MethodLoadVerbose_V2", 0x8, NULL, "Stub", NULL, DECODE_TRUNCATED},
        /* With the flag and one string of two: the missing string is unknown. */
        {"DotNETRuntime:MethodLoadVerbose_V1", 0x18, "N", "Stub", NULL, DECODE_TRUNCATED},
        {"DotNETRuntime:MethodLoadVerbose_V1", 0x18, NULL, NULL, NULL, DECODE_TRUNCATED},
        {"DotNETRuntime:MethodLoadVerbose_V1", 0x18, NULL, "Stub", NULL, DECODE_OK},
        {"DotNETRuntime:MethodLoadVerbose_V2", 0x18, NULL, "Stub", NULL, DECODE_OK},
        {"DotNETRuntime:MethodUnloadVerbose_V1", 0x10, NULL, "JIT_日本", NULL, DECODE_OK},
        {"DotNETRuntimeRundown:MethodDCEndVerbose_V1", 0x10, NULL, "", NULL, DECODE_OK},
        /* All strings are present: the flag does not matter. */
        {"DotNETRuntime:MethodLoadVerbose_V1", 0x18, "N", "Stub", "S", DECODE_OK},
        {"DotNETRuntime:MethodLoadVerbose_V1", 0x18, "", "Stub", "", DECODE_OK},
        {"DotNETRuntime:MethodLoadVerbose_V1", 0x8, "", "", "", DECODE_OK},
};

static GByteArray *helper_blob(const Helper *helper, const Event *event)
{
        const char *const texts[] = {helper->name_space, helper->name, helper->signature};
        GByteArray *blob = g_byte_array_new();
        unsigned i;

        for (i = 0; i < event->n_fields; i++) {
                if (event->fields[i].name == FIELD_MethodFlags)
                        put_le(blob, helper->flags, 4);
                else if (i < 6 || i >= 9)
                        put_field(blob, &event->fields[i], i);
                else if (texts[i - 6])
                        put_wstring(blob, texts[i - 6]);
        }
        return blob;
}

static void check_text(const Record *record, FieldName name, const char *text)
{
        const Value *value = record_value(record, name);

        if (!text)
                text = "";
        ck_assert_uint_eq(value->n, strlen(text));
        ck_assert_ptr_nonnull(value->data);
        ck_assert_mem_eq(value->data, text, value->n);
}

START_TEST(test_helper)
{
        const Helper *helper = &HELPERS[_i];
        const Event *event = event_by_name(helper->event);
        g_autoptr(GByteArray) blob = helper_blob(helper, event);
        DecodeScratch scratch = DECODE_SCRATCH_INIT;
        Record record = {0};
        unsigned i;

        ck_assert_int_eq(decode(event, blob->data, blob->len, &scratch, &record), helper->result);
        if (helper->result == DECODE_OK) {
                check_text(&record, FIELD_MethodNamespace, helper->name_space);
                check_text(&record, FIELD_MethodName, helper->name);
                check_text(&record, FIELD_MethodSignature, helper->signature);
                for (i = 9; i < event->n_fields; i++)
                        check_value(&event->fields[i], i, &record.values[i]);
        }
        decode_scratch_deinit(&scratch);
}
END_TEST

/* A truncated event of a stub helper is an error. */
START_TEST(test_helper_truncated)
{
        const Helper *helper = &HELPERS[5];
        const Event *event = event_by_name(helper->event);
        g_autoptr(GByteArray) blob = helper_blob(helper, event);
        size_t n;

        for (n = 0; n < blob->len; n++)
                ck_assert_int_eq(decode_copy(event, blob->data, n), DECODE_TRUNCATED);
        put_le(blob, 1, 1);
        ck_assert_int_ne(decode_copy(event, blob->data, blob->len), DECODE_OK);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("packed");
        TCase *bad = tcase_create("bad"), *good = tcase_create("good");

        tcase_set_timeout(bad, 60);
        tcase_add_loop_test(bad, test_truncated, 0, (int)n_event_table);
        tcase_add_loop_test(bad, test_leftover, 0, (int)n_event_table);
        tcase_add_loop_test(bad, test_later, 0, (int)n_event_table);
        tcase_add_loop_test(bad, test_garbage, 0, (int)n_event_table);
        tcase_add_loop_test(bad, test_count, 0, G_N_ELEMENTS(COUNTS));
        tcase_add_test(bad, test_enormous);
        tcase_add_test(bad, test_unterminated);
        suite_add_tcase(suite, bad);

        tcase_add_loop_test(good, test_whole, 0, (int)n_event_table);
        tcase_add_test(good, test_odd_values);
        tcase_add_loop_test(good, test_helper, 0, G_N_ELEMENTS(HELPERS));
        tcase_add_test(good, test_helper_truncated);
        suite_add_tcase(suite, good);
        return suite;
}
