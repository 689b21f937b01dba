/* SPDX-License-Identifier: MIT */

/*
 * Removed files of the journal lose their names at once, and are truncated step by step, because
 * one ftruncate() or close() must not free much.
 */

#include "journal/journal-trash.h"

#include "support/keeper.h"
#include "support/suite.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { N_BYTES = 10 << 20, MOST = 5 << 20 };

static void make_file(const JournalDirectory *directory, JournalName name)
{
        g_autofree char *bytes = g_malloc0(N_BYTES);
        int fd = journal_directory_create(directory, name);

        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(write(fd, bytes, N_BYTES), N_BYTES);
        close(fd);
}

static off_t file_size(int fd)
{
        struct stat st;

        ck_assert_int_eq(fstat(fd, &st), 0);
        return st.st_size;
}

/* Returns the size of the first file in the trash in bytes; 0: the trash is empty. */
static off_t first_size(const JournalTrash *trash)
{
        return trash->fds->len ? file_size(g_array_index(trash->fds, int, 0)) : 0;
}

START_TEST(test_bit_by_bit)
{
        g_autofree char *path = path_of("trash");
        const JournalName names[] = {{1, JOURNAL_WHOLE}, {2, JOURNAL_WHOLE}};
        JournalDirectory directory;
        JournalTrash trash;
        unsigned n_files = 2;
        off_t size;

        journal_trash_init(&trash);
        ck_assert(journal_directory_open(&directory, path, NULL));
        make_file(&directory, names[0]);
        make_file(&directory, names[1]);
        ck_assert_int_eq(journal_trash_remove(&trash, &directory, names[0]), 0);
        ck_assert_int_eq(journal_trash_remove(&trash, &directory, names[1]), 0);
        ck_assert_int_eq(journal_trash_remove(&trash, &directory, names[1]), -ENOENT);
        ck_assert_int_lt(journal_directory_read(&directory, names[0]), 0);
        ck_assert_int_lt(journal_directory_read(&directory, names[1]), 0);
        size = first_size(&trash);
        ck_assert_int_eq(size, N_BYTES);
        while (trash.source) {
                g_main_context_iteration(NULL, TRUE);
                if (trash.fds->len == n_files) {
                        ck_assert_int_ge(first_size(&trash), size - MOST);
                } else {
                        ck_assert_int_le(size, MOST);
                        n_files = trash.fds->len;
                }
                size = first_size(&trash);
        }
        ck_assert_uint_eq(n_files, 0);
        journal_trash_deinit(&trash);
        journal_directory_close(&directory);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("journal-trash");
        TCase *tcase = tcase_create("journal-trash");

        tcase_add_checked_fixture(tcase, keeper_set_up, keeper_tear_down);
        tcase_add_test(tcase, test_bit_by_bit);
        suite_add_tcase(suite, tcase);
        return suite;
}
