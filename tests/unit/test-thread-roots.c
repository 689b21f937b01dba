/* SPDX-License-Identifier: MIT */
#include "support/suite.h"
#include "unwind/thread-roots.h"

START_TEST(test_most)
{
        ThreadRoots roots;

        thread_roots_init(&roots);
        ck_assert_uint_eq(thread_roots_find(&roots, 1), 0);
        thread_roots_note(&roots, 1, 0x30);
        ck_assert_uint_eq(thread_roots_find(&roots, 1), 0x30);
        thread_roots_note(&roots, 1, 0x10);
        thread_roots_note(&roots, 2, 0x20);
        thread_roots_note(&roots, 1, 0x10);
        ck_assert_uint_eq(thread_roots_find(&roots, 1), 0x10);
        ck_assert_uint_eq(thread_roots_find(&roots, 2), 0x20);
        thread_roots_deinit(&roots);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("thread-roots");
        TCase *tcase = tcase_create("thread-roots");

        tcase_add_test(tcase, test_most);
        suite_add_tcase(suite, tcase);
        return suite;
}
