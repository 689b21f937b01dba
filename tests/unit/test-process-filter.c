/* SPDX-License-Identifier: MIT */
#include "attach/process-filter.h"

#include "support/suite.h"

#include <unistd.h>

/* Rules against this process, with the command line of the test. */
START_TEST(test_rules)
{
        g_autofree char *own = g_strdup_printf("user:%u", (unsigned)geteuid());
        g_autofree char *other = g_strdup_printf("user:%u", (unsigned)geteuid() + 1);
        const struct {
                const char *rule;
                bool is_excluded;
        } rows[] = {
                {own, true},
                {other, false},
                {"command:*test-process-filter*", true},
                {"command:*test-process-filter?*x", false},
                {"command:test-process", false},
                {"cgroup:*", true},
                {"cgroup:*/no such/*", false},
        };
        g_autoptr(ProcessFilter) none = process_filter_new();
        size_t i;

        ck_assert(!process_filter_excludes(none, getpid(), geteuid()));
        for (i = 0; i < G_N_ELEMENTS(rows); i++) {
                g_autoptr(ProcessFilter) filter = process_filter_new();

                ck_assert_ptr_null(process_filter_add(filter, rows[i].rule));
                ck_assert_msg(process_filter_excludes(filter, getpid(), geteuid()) ==
                                      rows[i].is_excluded,
                              "%s", rows[i].rule);
        }
}
END_TEST

START_TEST(test_bad)
{
        static const char *const RULES[] = {"",        "user",     "user:", "user:no such user",
                                            "cgroup:", "command:", "uid:0", "user:-1",
                                            " user:0"};
        g_autoptr(ProcessFilter) filter = process_filter_new();
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(RULES); i++)
                ck_assert_msg(process_filter_add(filter, RULES[i]) != NULL, "%s", RULES[i]);
        ck_assert(!process_filter_excludes(filter, getpid(), geteuid()));
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("process-filter");
        TCase *tcase = tcase_create("process-filter");

        tcase_add_test(tcase, test_rules);
        tcase_add_test(tcase, test_bad);
        suite_add_tcase(suite, tcase);
        return suite;
}
