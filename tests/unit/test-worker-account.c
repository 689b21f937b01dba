/* SPDX-License-Identifier: MIT */

/* Memory limits of several workers together, and of the workers of one user. */

#include "attach/worker-account.h"

#include "support/suite.h"

#include <sys/wait.h>
#include <unistd.h>

enum { MAX = 1000, N_SHARES = 4, ALICE = 1000, BOB = 1001 };

static const uint64_t LIMITS[_WORKER_KEEP_MAX] = {
        [WORKER_KEEPS_FILE] = MAX, [WORKER_KEEPS_MEMORY] = 2 * MAX};

START_TEST(test_limits)
{
        WorkerAccount *account = worker_account_new(LIMITS, N_SHARES);
        WorkerShare *first = worker_share_open(account, ALICE);
        WorkerShare *second = worker_share_open(account, ALICE);
        WorkerShare *other = worker_share_open(account, BOB);
        const uid_t alice = ALICE;

        ck_assert_uint_eq(worker_account_max(account, WORKER_KEEPS_FILE), MAX);
        ck_assert_int_eq(worker_share_room(first, WORKER_KEEPS_FILE, MAX / 2), WORKER_ROOM);
        ck_assert_int_eq(worker_share_room(first, WORKER_KEEPS_FILE, MAX / 2 + 1),
                         WORKER_USER_FULL);
        worker_share_set(first, WORKER_KEEPS_FILE, 300);
        worker_share_set(second, WORKER_KEEPS_FILE, 200);
        ck_assert_uint_eq(worker_account_n_bytes(account, WORKER_KEEPS_FILE, &alice), 500);
        ck_assert_int_eq(worker_share_room(second, WORKER_KEEPS_FILE, 1), WORKER_USER_FULL);
        ck_assert_int_eq(worker_share_room(other, WORKER_KEEPS_FILE, 500), WORKER_ROOM);
        worker_share_set(other, WORKER_KEEPS_FILE, 500);
        ck_assert_int_eq(worker_share_room(other, WORKER_KEEPS_FILE, 1), WORKER_TOTAL_FULL);
        ck_assert_int_eq(worker_share_room(other, WORKER_KEEPS_MEMORY, MAX), WORKER_ROOM);
        worker_share_clear(first);
        ck_assert_int_eq(worker_share_room(second, WORKER_KEEPS_FILE, 300), WORKER_ROOM);
        worker_account_free(account);
}
END_TEST

/* A closed share is reused, with its account at zero. */
START_TEST(test_shares)
{
        WorkerAccount *account = worker_account_new(LIMITS, N_SHARES);
        WorkerShare *shares[N_SHARES];
        unsigned i;

        for (i = 0; i < N_SHARES; i++) {
                shares[i] = worker_share_open(account, ALICE + i);
                ck_assert_ptr_nonnull(shares[i]);
        }
        ck_assert_ptr_null(worker_share_open(account, BOB));
        worker_share_set(shares[2], WORKER_KEEPS_FILE, 10);
        worker_share_close(shares[2]);
        ck_assert_uint_eq(worker_account_n_bytes(account, WORKER_KEEPS_FILE, NULL), 0);
        ck_assert_ptr_eq(worker_share_open(account, BOB), shares[2]);
        worker_account_free(account);
        ck_assert_int_eq(worker_share_room(NULL, WORKER_KEEPS_FILE, UINT64_MAX), WORKER_ROOM);
}
END_TEST

/* Accounts that a worker, another process, writes. */
START_TEST(test_processes)
{
        WorkerAccount *account = worker_account_new(LIMITS, N_SHARES);
        WorkerShare *share = worker_share_open(account, ALICE);
        pid_t worker = fork();

        if (worker == 0) {
                worker_share_set(share, WORKER_KEEPS_FILE, 400);
                _exit(0);
        }
        ck_assert_int_eq(waitpid(worker, NULL, 0), worker);
        ck_assert_uint_eq(worker_account_n_bytes(account, WORKER_KEEPS_FILE, NULL), 400);
        worker_account_free(account);
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
        Suite *suite = suite_create("worker-account");
        TCase *tcase = tcase_create("worker-account");

        tcase_add_test(tcase, test_limits);
        tcase_add_test(tcase, test_shares);
        tcase_add_test(tcase, test_processes);
        tcase_add_test(tcase, test_size);
        suite_add_tcase(suite, tcase);
        return suite;
}
