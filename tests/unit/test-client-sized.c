/* SPDX-License-Identifier: MIT */

/* Structs of callers that were compiled with another header */

#include "client/sized.h"

#include "clrsym/clrsym.h"
#include "support/suite.h"

#include <errno.h>
#include <stdlib.h>

/* The struct of this version, and its size in the first version. */
typedef struct Known {
        uint64_t size, first, second, later;
} Known;

#define FIRST offsetof(Known, later)

static const struct {
        uint64_t given[6]; /* memory of the caller, beginning with its size */
        size_t size;
        int result;
        uint64_t later;
} CASES[] = {
        {{0, 1, 2, 99}, 0, 0, 0}, /* size 0 means the size of the first version */
        {{0, 1, 2, 99}, FIRST, 0, 0},
        {{0, 1, 2, 99}, sizeof(Known), 0, 99},
        {{0, 1, 2, 99, 0, 0},
         sizeof(Known) + 16,
         0,
         99}, /* longer struct of a later version whose further members are 0 */
        {{0, 1, 2, 99, 0, 7}, sizeof(Known) + 16, -EINVAL, 0},
        {{0, 1, 2, 99}, FIRST - 8, -EINVAL, 0},
        {{0, 1, 2, 99}, 1, -EINVAL, 0},
};

START_TEST(reads_each_size)
{
        Known known = {0};

        ck_assert_int_eq(sized_read(&known, sizeof(known), FIRST, CASES[_i].given, CASES[_i].size),
                         CASES[_i].result);
        if (CASES[_i].result < 0)
                return;
        ck_assert_uint_eq(known.first, 1);
        ck_assert_uint_eq(known.second, 2);
        ck_assert_uint_eq(known.later, CASES[_i].later);
}
END_TEST

START_TEST(refuses_options)
{
        const clrsym_options options = {.size = 3, .trace = "/nowhere"};
        clrsym *handle;
        char *message = NULL;

        ck_assert_int_eq(clrsym_open(&handle, &options, &message), -EINVAL);
        ck_assert_ptr_null(handle);
        ck_assert_str_eq(message, "options of 3 bytes, or of a later version of libclrsym");
        free(message);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("client-sized");
        TCase *tests = tcase_create("client-sized");

        tcase_add_loop_test(tests, reads_each_size, 0, G_N_ELEMENTS(CASES));
        tcase_add_test(tests, refuses_options);
        suite_add_tcase(suite, tests);
        return suite;
}
