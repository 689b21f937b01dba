/* SPDX-License-Identifier: MIT */

/* Waits of threads, from perf's records of context switches */

#include "perfdata/switches.h"

#include "support/suite.h"

typedef struct Row {
        uint32_t type;
        uint16_t misc;
        int32_t tid;
        uint64_t time;
} Row;

#define OUT PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT
#define PREEMPTED                                                                                  \
        PERF_RECORD_SWITCH_CPU_WIDE,                                                               \
                PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT
#define IN    PERF_RECORD_SWITCH_CPU_WIDE, 0
#define END   PERF_RECORD_EXIT, 0
#define OTHER PERF_RECORD_COMM, 0

/* The records of each CPU are in order; all records together are not. */
static const Row ROWS[] = {
        {IN, 1, 50},        {OUT, 1, 10},   {IN, 1, 30},  {PREEMPTED, 1, 40},
        {OUT, 1, 60},       {OUT, 2, 20},   {IN, 2, 25},  {END, 2, 28},
        {OUT, 2, 29},       {OUT, 3, 5},    {OUT, 3, 15}, /* a record between them was lost */
        {IN, 3, 45},        {IN, 4, 7},     {OUT, 5, 12}, {END, 5, 13},
        {PREEMPTED, 6, 70}, {OTHER, 7, 99}, {OUT, 8, 3},  {END, 8, 4},
        {OUT, 8, 5},        {IN, 8, 20},    {OUT, 8, 33}, {IN, 8, 44}, /* the thread id is reused */
};

static const struct {
        int32_t tid;
        uint64_t time;
        WaitKind kind;
        uint64_t duration;
} QUESTIONS[] = {
        {1, 10, WAIT_SLEEPS, 20},
        /* The kernel takes the sample a moment before it writes the record. */
        {1, 9, WAIT_SLEEPS, 21},
        {1, 40, WAIT_FOR_CPU, 10},
        /* A wait up to the last record. */
        {1, 60, WAIT_SLEEPS, 39},
        {6, 70, WAIT_FOR_CPU, 29},
        {1, 61, WAIT_UNCERTAIN, 0},
        {2, 20, WAIT_SLEEPS, 5},
        {2, 29, WAIT_NONE, 0},
        {3, 5, WAIT_UNCERTAIN, 0},
        {3, 15, WAIT_SLEEPS, 30},
        {4, 6, WAIT_UNCERTAIN, 0},
        {4, 8, WAIT_UNCERTAIN, 0},
        {5, 12, WAIT_NONE, 0},
        {8, 33, WAIT_SLEEPS, 11},
        {7, 50, WAIT_UNCERTAIN, 0},
        {9, 50, WAIT_UNCERTAIN, 0},
        {1, UINT64_MAX, WAIT_UNCERTAIN, 0},
};

static Switches *switches_make(uint64_t max)
{
        Switches *switches = switches_new(max);
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                const Row *row = &ROWS[i];
                const PerfRecordId id = {.pid = 1, .tid = row->tid, .time = row->time};
                ForkRecord record = {
                        .header = {.type = row->type, .misc = row->misc, .size = sizeof(record)},
                        .pid = 1,
                        .tid = (uint32_t)row->tid,
                        .time = row->time,
                };

                switches_take(switches, &id, &record.header);
        }
        return switches;
}

START_TEST(finds_waits)
{
        Switches *switches = switches_make(SWITCHES_MAX);
        uint64_t duration = 1;
        const WaitKind kind =
                switches_find(switches, QUESTIONS[_i].tid, QUESTIONS[_i].time, &duration);

        ck_assert_int_eq(kind, QUESTIONS[_i].kind);
        ck_assert_uint_eq(duration, QUESTIONS[_i].duration);
        switches_free(switches);
}
END_TEST

/* With fewer records, an answer is the same or uncertain. */
START_TEST(is_bounded)
{
        uint64_t max;
        size_t i;

        for (max = 0; max < G_N_ELEMENTS(ROWS); max++) {
                Switches *switches = switches_make(max);

                for (i = 0; i < G_N_ELEMENTS(QUESTIONS); i++) {
                        uint64_t duration;
                        const WaitKind kind = switches_find(switches, QUESTIONS[i].tid,
                                                            QUESTIONS[i].time, &duration);

                        if (kind == WAIT_UNCERTAIN || kind == WAIT_NONE)
                                ck_assert_uint_eq(duration, 0);
                        else
                                ck_assert_uint_eq(duration, QUESTIONS[i].duration);
                }
                switches_free(switches);
        }
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("switches");
        TCase *tests = tcase_create("switches");

        tcase_add_loop_test(tests, finds_waits, 0, G_N_ELEMENTS(QUESTIONS));
        tcase_add_test(tests, is_bounded);
        suite_add_tcase(suite, tests);
        return suite;
}
