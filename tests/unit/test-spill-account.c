/* SPDX-License-Identifier: MIT */

/*
 * What the files of several workers may have together, and those of one user.
 */

#include "attach/spill-account.h"

#include "support/suite.h"

#include <sys/wait.h>
#include <unistd.h>

enum { MAX = 1000, N_SHARES = 4, ALICE = 1000, BOB = 1001 };

START_TEST(test_limits)
{
        SpillAccount *account = spill_account_new(MAX, N_SHARES);
        SpillShare *first = spill_share_open(account, ALICE);
        SpillShare *second = spill_share_open(account, ALICE);
        SpillShare *other = spill_share_open(account, BOB);
        const uid_t alice = ALICE;

        ck_assert_uint_eq(spill_account_max(account), MAX);
        ck_assert_int_eq(spill_share_room(first, MAX / 2), SPILL_ROOM);
        ck_assert_int_eq(spill_share_room(first, MAX / 2 + 1), SPILL_USER_FULL);
        spill_share_set(first, 300);
        spill_share_set(second, 200);
        ck_assert_uint_eq(spill_account_n_bytes(account, &alice), 500);
        ck_assert_int_eq(spill_share_room(second, 1), SPILL_USER_FULL);
        ck_assert_int_eq(spill_share_room(other, 500), SPILL_ROOM);
        spill_share_set(other, 500);
        ck_assert_int_eq(spill_share_room(other, 1), SPILL_TOTAL_FULL);
        spill_share_clear(first);
        ck_assert_int_eq(spill_share_room(second, 300), SPILL_ROOM);
        spill_account_free(account);
}
END_TEST

/* A share that is closed is used again, with nothing on it. */
START_TEST(test_shares)
{
        SpillAccount *account = spill_account_new(MAX, N_SHARES);
        SpillShare *shares[N_SHARES];
        unsigned i;

        for (i = 0; i < N_SHARES; i++) {
                shares[i] = spill_share_open(account, ALICE + i);
                ck_assert_ptr_nonnull(shares[i]);
        }
        ck_assert_ptr_null(spill_share_open(account, BOB));
        spill_share_set(shares[2], 10);
        spill_share_close(shares[2]);
        ck_assert_uint_eq(spill_account_n_bytes(account, NULL), 0);
        ck_assert_ptr_eq(spill_share_open(account, BOB), shares[2]);
        spill_account_free(account);
        ck_assert_int_eq(spill_share_room(NULL, UINT64_MAX), SPILL_ROOM);
}
END_TEST

/* What a worker, another process, writes. */
START_TEST(test_processes)
{
        SpillAccount *account = spill_account_new(MAX, N_SHARES);
        SpillShare *share = spill_share_open(account, ALICE);
        pid_t worker = fork();

        if (worker == 0) {
                spill_share_set(share, 400);
                _exit(0);
        }
        ck_assert_int_eq(waitpid(worker, NULL, 0), worker);
        ck_assert_uint_eq(spill_account_n_bytes(account, NULL), 400);
        spill_account_free(account);
}
END_TEST

START_TEST(test_size)
{
        g_autoptr(GError) error = NULL;
        uint64_t size = 5;

        ck_assert(spill_size_find("CLRSYM_TEST_SIZE", &size, &error));
        ck_assert_uint_eq(size, 5);
        g_setenv("CLRSYM_TEST_SIZE", "2K", true);
        ck_assert(spill_size_find("CLRSYM_TEST_SIZE", &size, &error));
        ck_assert_uint_eq(size, 2048);
        g_setenv("CLRSYM_TEST_SIZE", "much", true);
        ck_assert(!spill_size_find("CLRSYM_TEST_SIZE", &size, &error));
        ck_assert_uint_eq(size, 2048);
        g_unsetenv("CLRSYM_TEST_SIZE");
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("spill-account");
        TCase *tcase = tcase_create("spill-account");

        tcase_add_test(tcase, test_limits);
        tcase_add_test(tcase, test_shares);
        tcase_add_test(tcase, test_processes);
        tcase_add_test(tcase, test_size);
        suite_add_tcase(suite, tcase);
        return suite;
}
