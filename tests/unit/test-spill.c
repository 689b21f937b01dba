/* SPDX-License-Identifier: MIT */

/*
 * A queue in a file: blocks of all sizes with rings of all lengths, a full file, a full disk, and a
 * missing directory.
 */

#include "util/spill.h"

#include "support/suite.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <sys/resource.h>

enum { N_BLOCKS = 400, MAX_BLOCK = 40 };

/* Returns byte K of block I. */
static uint8_t block_byte(unsigned i, size_t k)
{
        return (uint8_t)(7 * i + 31 * k);
}

static size_t block_size(unsigned i)
{
        return i * i % (MAX_BLOCK + 1);
}

static int put_block(Spill *spill, unsigned i)
{
        uint8_t bytes[MAX_BLOCK];
        size_t k, n = block_size(i);

        for (k = 0; k < n; k++)
                bytes[k] = block_byte(i, k);
        return spill_put(spill, bytes, n, 1000 + i);
}

/* Takes the oldest block and checks that it is block I. */
static void take_block(Spill *spill, unsigned i)
{
        g_autoptr(GByteArray) out = g_byte_array_new();
        const uint8_t before = 99;
        uint64_t tag;
        size_t k;

        g_byte_array_append(out, &before, 1);
        ck_assert_int_eq(spill_take(spill, out, &tag), 0);
        ck_assert_uint_eq(tag, 1000 + i);
        ck_assert_uint_eq(out->len, 1 + block_size(i));
        for (k = 0; k < block_size(i); k++)
                ck_assert_uint_eq(out->data[1 + k], block_byte(i, k));
}

/* The file is filled and half emptied repeatedly, so that the ring's end is at each place in a
 * block. */
START_TEST(test_ring)
{
        const uint64_t max = MAX_BLOCK + (uint64_t)_i;
        g_autoptr(Spill) spill = spill_new(max);
        unsigned next = 0, oldest = 0;
        uint64_t n = 0;

        while (next < N_BLOCKS) {
                for (; next < N_BLOCKS && n + block_size(next) <= max; next++) {
                        ck_assert_int_eq(put_block(spill, next), 0);
                        n += block_size(next);
                        ck_assert_uint_eq(spill_n_bytes(spill), n);
                }
                if (next < N_BLOCKS)
                        ck_assert_int_eq(put_block(spill, next), -ENOBUFS);
                for (; n > max / 2 || (next < N_BLOCKS && n + block_size(next) > max); oldest++) {
                        take_block(spill, oldest);
                        n -= block_size(oldest);
                }
        }
        for (; oldest < next; oldest++)
                take_block(spill, oldest);
        ck_assert(spill_is_empty(spill));
        ck_assert_uint_eq(spill_n_bytes(spill), 0);
}
END_TEST

/* The disk is full after N bytes: the file keeps its blocks, and takes more once there is room. */
START_TEST(test_full_disk)
{
        const struct rlimit full = {.rlim_cur = 100, .rlim_max = RLIM_INFINITY};
        const struct rlimit empty = {.rlim_cur = RLIM_INFINITY, .rlim_max = RLIM_INFINITY};
        g_autoptr(Spill) spill = spill_new(1 << 20);
        unsigned next = 0, oldest;

        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &full);
        while (put_block(spill, next) == 0)
                next++;
        setrlimit(RLIMIT_FSIZE, &empty);
        ck_assert_uint_le(spill_n_bytes(spill), 100);
        ck_assert_uint_gt(spill_n_bytes(spill) + block_size(next), 100);
        for (oldest = 0; oldest < next; oldest++)
                take_block(spill, oldest);
        ck_assert_int_eq(put_block(spill, 5), 0);
        take_block(spill, 5);
}
END_TEST

START_TEST(test_no_directory)
{
        g_autoptr(Spill) spill = spill_new(1 << 20);

        g_setenv("TMPDIR", "/nowhere", true);
        ck_assert_int_eq(put_block(spill, 1), -ENOENT);
        ck_assert(spill_is_empty(spill));
        g_unsetenv("TMPDIR");
        ck_assert_int_eq(put_block(spill, 1), 0);
        take_block(spill, 1);
}
END_TEST

/* The file has no name, so it vanishes with the process. */
START_TEST(test_no_name)
{
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        g_autoptr(Spill) spill = spill_new(1 << 20);
        g_autoptr(GDir) entries = NULL;

        g_setenv("TMPDIR", directory, true);
        ck_assert_int_eq(put_block(spill, 3), 0);
        entries = g_dir_open(directory, 0, NULL);
        ck_assert_ptr_null(g_dir_read_name(entries));
        ck_assert_int_eq(g_rmdir(directory), 0);
        take_block(spill, 3);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("spill");
        TCase *tcase = tcase_create("spill");

        tcase_add_loop_test(tcase, test_ring, 0, MAX_BLOCK);
        tcase_add_test(tcase, test_full_disk);
        tcase_add_test(tcase, test_no_directory);
        tcase_add_test(tcase, test_no_name);
        suite_add_tcase(suite, tcase);
        return suite;
}
