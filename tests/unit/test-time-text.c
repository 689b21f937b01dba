/* SPDX-License-Identifier: MIT */
#include "util/time-text.h"

#include "support/suite.h"
#include "util/json-text.h"

#include <stdlib.h>

/* A machine that booted at 2026-11-21 00:00:00 UTC; data from second 100 to 1000. */
static const TimeContext CONTEXT = {
        .now = UINT64_C(2000000000000),
        .has_offset = true,
        .clock_offset = INT64_C(1795219200) * 1000000000,
        .begin = UINT64_C(100000000000),
        .end = UINT64_C(1000000000000),
};

static const struct {
        const char *text;
        bool is_time;
        uint64_t time;
} ROWS[] = {
        {"", false, 0},
        {"x", false, 0},
        {".", false, 0},
        {"1.", false, 0},
        {"1.5s", false, 0},
        {"0x10", false, 0},
        {"-", false, 0},
        {"-5y", false, 0},
        {"-3000s", false, 0},
        {"@", false, 0},
        {"@12", false, 0}, /* long before boot */
        {"24:00:00", false, 0},
        {"10:00", false, 0},
        {"2026-13-01 00:00:00", false, 0},
        {"2026-11-21", false, 0},
        {"99999999999999999999", false, 0},
        {"99999999999.5", false, 0},
        {"473.414890639", true, UINT64_C(473414890639)},
        {"473.41489:", true, UINT64_C(473414890000)},
        {" 473.4 ", true, UINT64_C(473400000000)},
        {"473.4148906391", true, UINT64_C(473414890639)},
        {"473414890639", true, UINT64_C(473414890639)},
        {"0", true, 0},
        {"now", true, UINT64_C(2000000000000)},
        {"-5s", true, UINT64_C(1995000000000)},
        {"-5", true, UINT64_C(1995000000000)},
        {"-1.5ms", true, UINT64_C(1999998500000)},
        {"-10us", true, UINT64_C(1999999990000)},
        {"-10m", true, UINT64_C(1400000000000)},
        {"@1795219300.25", true, UINT64_C(100250000000)},
        {"00:01:40", true, UINT64_C(100000000000)},
        {"00:01:40.000000001", true, UINT64_C(100000000001)},
        {"2026-11-21 00:01:40.5", true, UINT64_C(100500000000)},
        {"2026-11-21T00:01:40", true, UINT64_C(100000000000)},
        {"2026-11-22 00:00:00", true, UINT64_C(86400000000000)},
};

START_TEST(test_parse)
{
        uint64_t time = 42;
        const char *wrong = time_from_text(ROWS[_i].text, &CONTEXT, &time);

        ck_assert_msg(!wrong == ROWS[_i].is_time, "'%s': %s", ROWS[_i].text,
                      wrong ? wrong : "accepted");
        if (ROWS[_i].is_time)
                ck_assert_msg(time == ROWS[_i].time, "'%s': %" G_GUINT64_FORMAT, ROWS[_i].text,
                              (guint64)time);
}
END_TEST

/* Data across midnight: a time of day after the last data was yesterday. */
START_TEST(test_day_before)
{
        TimeContext context = CONTEXT;
        uint64_t time;

        context.begin = UINT64_C(80000) * 1000000000; /* 22:13:20 */
        context.end = UINT64_C(90000) * 1000000000;   /* 01:00:00 of the next day */
        ck_assert_ptr_null(time_from_text("23:00:00", &context, &time));
        ck_assert_uint_eq(time, UINT64_C(82800) * 1000000000);
        ck_assert_ptr_null(time_from_text("00:30:00", &context, &time));
        ck_assert_uint_eq(time, UINT64_C(88200) * 1000000000);
}
END_TEST

START_TEST(test_no_offset)
{
        TimeContext context = CONTEXT;
        uint64_t time;

        context.has_offset = false;
        ck_assert_ptr_nonnull(time_from_text("@1795219300", &context, &time));
        ck_assert_ptr_nonnull(time_from_text("00:01:40", &context, &time));
        ck_assert_ptr_nonnull(time_from_text("2026-11-21 00:01:40", &context, &time));
        ck_assert_ptr_null(time_from_text("1.5", &context, &time));
}
END_TEST

START_TEST(test_write)
{
        static const struct {
                uint64_t time;
                const char *text;
        } TIMES[] = {{0, "\"0.000000000\""},
                     {UINT64_C(473000000001), "\"473.000000001\""},
                     {UINT64_MAX, "\"18446744073.709551615\""}};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(TIMES); i++) {
                g_autoptr(GString) text = g_string_new(NULL);

                json_append_time(text, TIMES[i].time);
                ck_assert_str_eq(text->str, TIMES[i].text);
        }
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("time-text");
        TCase *tcase = tcase_create("time-text");

        setenv("TZ", "UTC", 1);
        tcase_add_loop_test(tcase, test_parse, 0, G_N_ELEMENTS(ROWS));
        tcase_add_test(tcase, test_day_before);
        tcase_add_test(tcase, test_no_offset);
        tcase_add_test(tcase, test_write);
        suite_add_tcase(suite, tcase);
        return suite;
}
