/* SPDX-License-Identifier: MIT */

/* The names of threads, from perf's records of names and forks */

#include "perfdata/thread-names.h"

#include "support/suite.h"

#include <string.h>

static void add_name(ThreadNames *names, uint32_t tid, const char *name, uint64_t time)
{
        struct {
                struct perf_event_header header;
                uint32_t pid, tid;
                char name[16];
        } record = {{PERF_RECORD_COMM, 0, sizeof(record)}, 1, tid, ""};

        memcpy(record.name, name, MIN(strlen(name), sizeof(record.name)));
        thread_names_take(names, &record.header, time);
}

static void add_fork(ThreadNames *names, uint32_t tid, uint32_t parent, uint64_t time)
{
        struct {
                struct perf_event_header header;
                uint32_t pid, parent, tid, parent_tid;
                uint64_t time;
        } record = {{PERF_RECORD_FORK, 0, sizeof(record)}, 1, 1, tid, parent, time};

        thread_names_take(names, &record.header, time);
}

static const struct {
        int32_t tid;
        uint64_t time;
        const char *name;
} QUESTIONS[] = {
        {1, 0, "first"},   {1, 9, "first"},    {1, 10, "second"}, {1, UINT64_MAX, "second"},
        {2, 4, NULL},      {2, 5, "first"},    {2, 11, "first"},  {2, 12, "own"},
        {3, 15, "second"}, {3, 100, "second"}, {4, 15, NULL},     {9, 20, "a name of 15 ch"},
        {5, 30, NULL},     {7, 0, NULL},
};

START_TEST(finds_names)
{
        ThreadNames *names = thread_names_new();
        const char *name;

        /* The records of each CPU are in order; all records together are not. */
        add_name(names, 2, "own", 12);
        add_fork(names, 2, 1, 5);
        add_name(names, 1, "second", 10);
        add_fork(names, 3, 1, 14);
        add_name(names, 1, "first", 0);
        add_fork(names, 4, 8, 14); /* fork by an unknown thread */
        add_name(names, 9, "a name of 15 ch and more", 20);
        /* A reused thread id. */
        add_name(names, 5, "old", 1);
        add_fork(names, 5, 8, 25);
        name = thread_names_find(names, QUESTIONS[_i].tid, QUESTIONS[_i].time);
        ck_assert_msg(!g_strcmp0(name, QUESTIONS[_i].name), "%d: %s", _i, name ? name : "none");
        thread_names_free(names);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("thread-names");
        TCase *tests = tcase_create("thread-names");

        tcase_add_loop_test(tests, finds_names, 0, G_N_ELEMENTS(QUESTIONS));
        suite_add_tcase(suite, tests);
        return suite;
}
