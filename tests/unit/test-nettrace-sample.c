/* SPDX-License-Identifier: MIT */

/* Payloads of samples, with wrong lengths and amounts, and the stacks of waits */

#include "nettrace/sample.h"
#include "nettrace/waits.h"

#include "support/suite.h"

#include <string.h>

#define RUNTIME "Microsoft-Windows-DotNETRuntime"

START_TEST(test_kinds)
{
        static const struct {
                const char *provider;
                uint32_t id;
                NettraceSampleKind kind;
        } ROWS[] = {
                {"Microsoft-DotNETCore-SampleProfiler", 0, NETTRACE_SAMPLE_THREAD},
                {RUNTIME, 303, NETTRACE_SAMPLE_ALLOC_SAMPLED},
                {RUNTIME, 10, NETTRACE_SAMPLE_ALLOC_TICK},
                {RUNTIME, 81, NETTRACE_SAMPLE_WAIT},
                {RUNTIME, 91, NETTRACE_SAMPLE_CONTENTION},
                {RUNTIME, 80, NETTRACE_SAMPLE_EXCEPTION},
                {RUNTIME, 0, NETTRACE_SAMPLE_NONE},
                {RUNTIME "Rundown", 10, NETTRACE_SAMPLE_NONE},
                {"Other", 303, NETTRACE_SAMPLE_NONE},
                {"", 80, NETTRACE_SAMPLE_NONE},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++)
                ck_assert_int_eq(nettrace_sample_kind(ROWS[i].provider, strlen(ROWS[i].provider),
                                                      ROWS[i].id),
                                 ROWS[i].kind);
}
END_TEST

/* Payloads as hexadecimal digits. The type is always "A": 41 00 00 00. */
#define TYPE    "41000000"
#define ADDRESS "1122334455667788"

static const struct {
        NettraceSampleKind kind;
        const char *payload;
        uint64_t weight; /* 0: no sample */
        bool is_managed;
        const char *type;
} PAYLOADS[] = {
        {NETTRACE_SAMPLE_THREAD, "02000000", 1, true, NULL},
        {NETTRACE_SAMPLE_THREAD, "01000000", 1, false, NULL},
        {NETTRACE_SAMPLE_THREAD, "00000000", 0, false, NULL},
        {NETTRACE_SAMPLE_THREAD, "", 0, false, NULL},
        /* 24 bytes: near the mean; 1024000: almost always sampled; the largest number. */
        {NETTRACE_SAMPLE_ALLOC_SAMPLED,
         "000000000000" ADDRESS TYPE ADDRESS "1800000000000000" ADDRESS, 102412, false, "A"},
        {NETTRACE_SAMPLE_ALLOC_SAMPLED,
         "000000000000" ADDRESS TYPE ADDRESS "00a00f0000000000" ADDRESS, 1024046, false, "A"},
        {NETTRACE_SAMPLE_ALLOC_SAMPLED,
         "000000000000" ADDRESS TYPE ADDRESS "ffffffffffffffff" ADDRESS, 0, false, NULL},
        {NETTRACE_SAMPLE_ALLOC_SAMPLED,
         "000000000000" ADDRESS TYPE ADDRESS "0000000000000000" ADDRESS, 0, false, NULL},
        {NETTRACE_SAMPLE_ALLOC_SAMPLED, "000000000000" ADDRESS "4100", 0, false, NULL},
        /* Version 1; version 2 and later, whose amount has 64 bits; a type without an end. */
        {NETTRACE_SAMPLE_ALLOC_TICK, "a0860100000000000000", 100000, false, NULL},
        {NETTRACE_SAMPLE_ALLOC_TICK,
         "00000000000000000000"
         "0000000001000000" ADDRESS TYPE,
         UINT64_C(1) << 32, false, "A"},
        {NETTRACE_SAMPLE_ALLOC_TICK,
         "00000000000000000000"
         "0000000001000000" ADDRESS "4100",
         UINT64_C(1) << 32, false, NULL},
        {NETTRACE_SAMPLE_ALLOC_TICK, "a08601", 0, false, NULL},
        /* 1.5e6 ns; not a number; negative; infinite; too short. */
        {NETTRACE_SAMPLE_CONTENTION,
         "000000"
         "0000000060e33641",
         1500000, false, NULL},
        {NETTRACE_SAMPLE_CONTENTION,
         "000000"
         "000000000000f87f",
         0, false, NULL},
        {NETTRACE_SAMPLE_CONTENTION,
         "000000"
         "00000000000059c0",
         0, false, NULL},
        {NETTRACE_SAMPLE_CONTENTION,
         "000000"
         "000000000000f07f",
         0, false, NULL},
        {NETTRACE_SAMPLE_CONTENTION, "000000", 0, false, NULL},
        {NETTRACE_SAMPLE_EXCEPTION, TYPE, 1, false, "A"},
        {NETTRACE_SAMPLE_EXCEPTION, "", 1, false, NULL},
        {NETTRACE_SAMPLE_EXCEPTION, "0000", 1, false, NULL},
};

START_TEST(test_payload)
{
        const char *hex = PAYLOADS[_i].payload;
        const size_t n = strlen(hex) / 2;
        /* A copy of the exact size, so that the address sanitizer sees a read beyond the end. */
        g_autofree uint8_t *bytes = g_malloc(n);
        g_autoptr(GString) type = g_string_new(NULL);
        NettraceSample sample = {.type = "before"};
        bool ok;
        size_t i;

        for (i = 0; i < n; i++)
                bytes[i] = (uint8_t)(g_ascii_xdigit_value(hex[2 * i]) << 4 |
                                     g_ascii_xdigit_value(hex[2 * i + 1]));
        ok = nettrace_sample_decode(PAYLOADS[_i].kind, bytes, n, 8, type, &sample);
        ck_assert_msg(ok == (PAYLOADS[_i].weight > 0), "row %d", _i);
        if (!ok)
                return;
        ck_assert_msg(sample.weight == PAYLOADS[_i].weight, "row %d: %" G_GUINT64_FORMAT, _i,
                      (guint64)sample.weight);
        ck_assert(sample.is_managed == PAYLOADS[_i].is_managed);
        ck_assert_pstr_eq(sample.type, PAYLOADS[_i].type);
}
END_TEST

START_TEST(test_waits)
{
        static const uint64_t STACK[] = {0x1000, 0x2000};
        uint64_t many[NETTRACE_MAX_WAIT_ADDRESSES + 1] = {0};
        NettraceWaits waits;
        const uint64_t *addresses;
        size_t n;
        uint64_t i;

        nettrace_waits_init(&waits);
        ck_assert_ptr_null(nettrace_waits_end(&waits, 7, &n));
        ck_assert_uint_eq(n, 0);
        nettrace_waits_begin(&waits, 7, STACK, 2);
        nettrace_waits_begin(&waits, 8, STACK, 1);
        addresses = nettrace_waits_end(&waits, 7, &n);
        ck_assert_uint_eq(n, 2);
        ck_assert_mem_eq(addresses, STACK, sizeof(STACK));
        ck_assert_ptr_null(nettrace_waits_end(&waits, 7, &n));
        /* Events are missing: the newest begin counts, also a begin without a stack. */
        nettrace_waits_forget(&waits, 8);
        ck_assert_ptr_null(nettrace_waits_end(&waits, 8, &n));
        nettrace_waits_begin(&waits, 7, STACK, 2);
        nettrace_waits_begin(&waits, 7, NULL, 0);
        ck_assert_ptr_null(nettrace_waits_end(&waits, 7, &n));
        nettrace_waits_begin(&waits, 7, many, G_N_ELEMENTS(many));
        nettrace_waits_end(&waits, 7, &n);
        ck_assert_uint_eq(n, NETTRACE_MAX_WAIT_ADDRESSES);
        for (i = 0; i <= NETTRACE_MAX_WAITS; i++)
                nettrace_waits_begin(&waits, i, STACK, 2);
        ck_assert_ptr_null(nettrace_waits_end(&waits, NETTRACE_MAX_WAITS, &n));
        ck_assert_ptr_nonnull(nettrace_waits_end(&waits, 0, &n));
        nettrace_waits_clear(&waits);
        ck_assert_ptr_null(nettrace_waits_end(&waits, 1, &n));
        nettrace_waits_deinit(&waits);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("nettrace sample");
        TCase *all = tcase_create("all");

        tcase_add_test(all, test_kinds);
        tcase_add_loop_test(all, test_payload, 0, G_N_ELEMENTS(PAYLOADS));
        tcase_add_test(all, test_waits);
        suite_add_tcase(suite, all);
        return suite;
}
