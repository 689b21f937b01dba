/* SPDX-License-Identifier: MIT */
#include "daemon/epoch.h"

#include "support/suite.h"

#include <glib.h>
#include <glib/gstdio.h>

#define SECOND     UINT64_C(1000000000)
#define MAX_EPOCHS (UINT64_C(1) << 53)

static const char *const BOOTS[] = {"11111111-2222-3333-4444-555555555555",
                                    "e8a5f7a1-0000-4000-8000-000000000001", ""};

/* Epochs rise with the time since boot; all are exact as a double. */
START_TEST(test_boot)
{
        uint64_t last = 0, s;

        for (s = 0; s < 500 * 1000 * 1000; s += 1234567) {
                uint64_t epoch = epoch_of_boot(BOOTS[_i], s * SECOND + s % SECOND);

                ck_assert_uint_gt(epoch, last);
                ck_assert_uint_lt(epoch, MAX_EPOCHS);
                last = epoch;
        }
}
END_TEST

/* Epochs of earlier versions were the Unix time in seconds, shifted by 20: the epochs of this
 * version are larger. */
START_TEST(test_upgrade)
{
        ck_assert_uint_gt(epoch_of_boot(BOOTS[_i], 0), UINT64_C(1800000000) << 20);
}
END_TEST

static uint64_t first_epoch(const char *directory, uint64_t n_used)
{
        EpochStore *store = epoch_store_new(directory);
        uint64_t epoch = epoch_store_first(store), used;

        for (used = 0; used < n_used; used += 1 << 20)
                epoch_store_note(store, epoch + used);
        epoch_store_free(store);
        return epoch;
}

/* The first epoch of each daemon is above all epochs of the daemon before, however many the earlier
 * daemon used. */
START_TEST(test_stored)
{
        static const uint64_t N_USED[] = {0, 1 << 20, UINT64_C(1) << 26, UINT64_C(1) << 30, 0};
        g_autofree char *directory = g_dir_make_tmp("clrsym-epoch-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(directory, "epoch", NULL);
        uint64_t end = 0;
        guint i;

        for (i = 0; i < G_N_ELEMENTS(N_USED); i++) {
                uint64_t epoch = first_epoch(directory, N_USED[i]);

                ck_assert_uint_ge(epoch, end);
                ck_assert_uint_lt(epoch, MAX_EPOCHS);
                end = epoch + N_USED[i];
        }
        /* A file without a number, or with one that is too large, is ignored. */
        for (i = 0; i < 3; i++) {
                static const char *const WRONG[] = {"", "x", "18446744073709551615\n"};

                ck_assert(g_file_set_contents(path, WRONG[i], -1, NULL));
                ck_assert_uint_lt(first_epoch(directory, 0), MAX_EPOCHS);
        }
        g_remove(path);
        g_rmdir(directory);
}
END_TEST

/* Without a state directory, the time since boot decides. */
START_TEST(test_unstored)
{
        uint64_t first = first_epoch(NULL, 0), second;

        g_usleep(1000);
        second = first_epoch(NULL, 0);
        ck_assert_uint_gt(second, first);
        ck_assert_uint_lt(second - first, UINT64_C(600) << 20);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("epoch");
        TCase *tcase = tcase_create("epoch");

        tcase_add_loop_test(tcase, test_boot, 0, G_N_ELEMENTS(BOOTS));
        tcase_add_loop_test(tcase, test_upgrade, 0, G_N_ELEMENTS(BOOTS));
        tcase_add_test(tcase, test_stored);
        tcase_add_test(tcase, test_unstored);
        suite_add_tcase(suite, tcase);
        return suite;
}
