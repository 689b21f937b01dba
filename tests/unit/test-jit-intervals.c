/* SPDX-License-Identifier: MIT */

/*
 * The method that a thread compiles at a time: from the runtime's events, through the log of a
 * worker, to the answers
 */

#include "record/jit-intervals.h"
#include "support/log-place.h"
#include "support/suite.h"

#define PID 77

/* A record of the thread TID: a compilation begins, or, with an ADDRESS, its code is loaded. */
typedef struct Step {
        int32_t tid;
        uint64_t method, time, address;
} Step;

static const Step STEPS[] = {
        {1, 10, 100, 0},      {2, 20, 105, 0},
        {1, 11, 110, 0}, /* nested in the first compilation */
        {1, 12, 112, 0}, /* never loaded */
        {1, 11, 120, 0x1100}, {2, 20, 125, 0x2000},
        {1, 13, 130, 0x1300}, /* loaded without a compilation */
        {1, 10, 140, 0x1000}, {1, 14, 150, 0},
        {1, 14, 160, 0x1400}, {3, 30, 100, 0}, /* not loaded yet */
        {0, 40, 100, 0},                       /* of an unknown thread */
        {0, 40, 110, 0x4000},
};

static const struct {
        int32_t pid, tid;
        uint64_t time;
        uint64_t address; /* 0: no compilation */
} QUESTIONS[] = {
        {PID, 1, 99, 0},       {PID, 1, 100, 0x1000}, {PID, 1, 109, 0x1000}, {PID, 1, 110, 0x1100},
        {PID, 1, 119, 0x1100}, {PID, 1, 120, 0x1000}, {PID, 1, 135, 0x1000}, {PID, 1, 140, 0},
        {PID, 1, 145, 0},      {PID, 1, 159, 0x1400}, {PID, 1, 160, 0},      {PID, 2, 104, 0},
        {PID, 2, 110, 0x2000}, {PID, 2, 125, 0},      {PID, 3, 105, 0},      {PID, 0, 105, 0},
        {PID, 4, 105, 0},      {PID + 1, 1, 105, 0},
};

static void take(JitLog *log, const Step *step)
{
        Record record = {.event = step->address
                                          ? event_by_name("DotNETRuntime:MethodLoadVerbose_V2")
                                          : event_by_name("DotNETRuntime:MethodJittingStarted_V1"),
                         .time = step->time,
                         .tid = step->tid};

        ck_assert_ptr_nonnull(record.event);
        log_set_value(&record, FIELD_MethodID, step->method);
        log_set_value(&record, FIELD_MethodStartAddress, step->address);
        jit_log_take(log, &record);
}

START_TEST(test_intervals)
{
        LogPlace place = log_place_new(JIT_LOG_DIRECTORY);
        JitIntervals *intervals;
        JitLog *log;
        size_t i;

        ck_assert_ptr_null(jit_log_open(place.path, place.threads)); /* no reader */
        jit_log_take(NULL, NULL);
        jit_log_close(NULL);
        g_mkdir(place.logs, 0700);
        log = jit_log_open(place.path, place.threads);
        for (i = 0; i < G_N_ELEMENTS(STEPS); i++)
                take(log, &STEPS[i]);
        jit_log_close(log);
        intervals = jit_intervals_new(place.logs);
        for (i = 0; i < G_N_ELEMENTS(QUESTIONS); i++) {
                const JitLogEntry *entry = jit_intervals_find(intervals, QUESTIONS[i].pid,
                                                              QUESTIONS[i].tid, QUESTIONS[i].time);

                ck_assert_uint_eq(entry ? entry->address : 0, QUESTIONS[i].address);
                ck_assert_int_eq(
                        jit_intervals_is_before(intervals, QUESTIONS[i].pid, QUESTIONS[i].time),
                        QUESTIONS[i].pid != PID || QUESTIONS[i].time < 100);
        }
        jit_intervals_free(intervals);
        g_unlink(place.log_path);
        g_rmdir(place.logs);
        intervals = jit_intervals_new(place.logs);
        ck_assert_ptr_null(jit_intervals_find(intervals, PID, 1, 105));
        jit_intervals_free(intervals);
        log_place_remove(&place);
}
END_TEST

/* Many compilations that never end: the inner ones are still found. */
START_TEST(test_endless)
{
        LogPlace place = log_place_new(JIT_LOG_DIRECTORY);
        JitIntervals *intervals;
        JitLog *log;
        uint64_t i;

        g_mkdir(place.logs, 0700);
        log = jit_log_open(place.path, place.threads);
        for (i = 0; i < 1000; i++)
                take(log, &(const Step){1, i, 100 + i, 0});
        take(log, &(const Step){1, 999, 2000, 0x1000});
        take(log, &(const Step){1, 0, 2001, 0x2000});
        jit_log_close(log);
        intervals = jit_intervals_new(place.logs);
        ck_assert_uint_eq(jit_intervals_find(intervals, PID, 1, 1500)->address, 0x1000);
        ck_assert_ptr_null(jit_intervals_find(intervals, PID, 1, 500));
        jit_intervals_free(intervals);
        log_place_remove(&place);
}
END_TEST

/* More entries than the log has room for, with a reader at work: the newest are found, and the disk
 * has only a bounded number of entries. */
START_TEST(test_live)
{
        enum { ROUND = 20000 };
        const uint64_t n = 2 * JIT_LOG_MAX_BYTES / sizeof(JitLogEntry);
        LogPlace place = log_place_new(JIT_LOG_DIRECTORY);
        JitIntervals *intervals;
        GStatBuf st;
        JitLog *log;
        uint64_t i;

        g_mkdir(place.logs, 0700);
        log = jit_log_open(place.path, place.threads);
        intervals = jit_intervals_new(place.logs);
        for (i = 1; i <= n; i++) {
                take(log, &(const Step){1, i, 10 * i, 0});
                take(log, &(const Step){1, i, 10 * i + 5, i});
                if (i % ROUND)
                        continue;
                jit_log_flush(log);
                jit_intervals_update(intervals);
                ck_assert_uint_eq(jit_intervals_find(intervals, PID, 1, 10 * i)->address, i);
                jit_intervals_forget(intervals, 10 * i);
                ck_assert_ptr_null(jit_intervals_find(intervals, PID, 1, 10 * (i - 1)));
                ck_assert_ptr_nonnull(jit_intervals_find(intervals, PID, 1, 10 * i + 4));
                ck_assert_int_eq(g_stat(place.log_path, &st), 0);
                ck_assert_int_le(st.st_blocks * 512, JIT_LOG_MAX_BYTES / 2);
        }
        ck_assert(!jit_intervals_is_before(intervals, PID, 10));
        jit_log_close(log);
        jit_intervals_free(intervals);
        log_place_remove(&place);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("jit-intervals");
        TCase *tcase = tcase_create("jit-intervals");

        tcase_add_test(tcase, test_intervals);
        tcase_add_test(tcase, test_endless);
        tcase_add_test(tcase, test_live);
        suite_add_tcase(suite, tcase);
        return suite;
}
