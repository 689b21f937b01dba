/* SPDX-License-Identifier: MIT */
#include "support/suite.h"
#include "util/atomic-file.h"

#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char *directory, *path, *other;

static void setup(void)
{
        directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        path = g_build_filename(directory, "name", NULL);
        other = g_build_filename(directory, "other", NULL);
}

static void teardown(void)
{
        g_unlink(path);
        g_unlink(other);
        /* The directory is empty: no temporary file is left. */
        ck_assert_int_eq(g_rmdir(directory), 0);
        g_free(directory);
        g_free(path);
        g_free(other);
}

static void write_text(AtomicFile *file, const char *text)
{
        ck_assert_int_eq(atomic_file_write(file, text, strlen(text)), 0);
}

static void write_file(const char *name, const char *text)
{
        g_auto(AtomicFile) file = ATOMIC_FILE_INIT;

        ck_assert_int_eq(atomic_file_open(&file, name), 0);
        write_text(&file, text);
        ck_assert_int_eq(atomic_file_commit(&file, /* sync= */ true), 0);
}

static void assert_text(const char *name, const char *want)
{
        g_autofree char *got = NULL;

        ck_assert(g_file_get_contents(name, &got, NULL, NULL));
        ck_assert_str_eq(got, want);
}

START_TEST(test_in_directory_replaces_link)
{
        g_auto(AtomicFile) file = ATOMIC_FILE_INIT;
        int fd = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);

        write_file(other, "other");
        ck_assert_int_eq(symlink(other, path), 0);
        ck_assert_int_eq(atomic_file_open_in(&file, fd, "name"), 0);
        close(fd);
        write_text(&file, "new");
        ck_assert_int_eq(atomic_file_commit(&file, /* sync= */ false), 0);
        assert_text(path, "new");
        assert_text(other, "other");
        ck_assert(!g_file_test(path, G_FILE_TEST_IS_SYMLINK));
        ck_assert_int_eq(atomic_file_open_in(&file, -1, "name"), -EBADF);
}
END_TEST

START_TEST(test_appears_when_whole)
{
        g_auto(AtomicFile) file = ATOMIC_FILE_INIT;

        ck_assert_int_eq(atomic_file_open(&file, path), 0);
        write_text(&file, "new");
        ck_assert(!g_file_test(path, G_FILE_TEST_EXISTS));
        ck_assert_int_eq(atomic_file_commit(&file, /* sync= */ false), 0);
        assert_text(path, "new");
}
END_TEST

START_TEST(test_failure_leaves_the_old_one)
{
        g_auto(AtomicFile) file = ATOMIC_FILE_INIT;

        write_file(path, "old");
        ck_assert_int_eq(atomic_file_open(&file, path), 0);
        write_text(&file, "new");
        atomic_file_clear(&file);
        assert_text(path, "old");
}
END_TEST

START_TEST(test_mode_is_kept)
{
        struct stat st;

        /* The umask decides the mode of a new file. */
        umask(027);
        write_file(path, "old");
        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert_uint_eq(st.st_mode & 0777, 0640);
        ck_assert_int_eq(chmod(path, 0664), 0);
        write_file(path, "new");
        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert_uint_eq(st.st_mode & 0777, 0664);
        assert_text(path, "new");
}
END_TEST

/* Links to an existing file and to a missing file, relative and absolute. */
START_TEST(test_link_is_followed)
{
        g_autofree char *target = NULL;

        if (_i & 1)
                write_file(other, "old");
        ck_assert_int_eq(symlink(_i & 2 ? other : "other", path), 0);
        write_file(path, "new");
        target = g_file_read_link(path, NULL);
        ck_assert_str_eq(target, _i & 2 ? other : "other");
        assert_text(other, "new");
}
END_TEST

START_TEST(test_not_regular)
{
        g_auto(AtomicFile) file = ATOMIC_FILE_INIT;
        struct stat st;

        ck_assert_int_eq(symlink("/dev/null", path), 0);
        ck_assert_int_eq(atomic_file_open(&file, path), 0);
        write_text(&file, "text");
        ck_assert_int_eq(atomic_file_commit(&file, /* sync= */ false), 0);
        ck_assert_int_eq(lstat(path, &st), 0);
        ck_assert(S_ISLNK(st.st_mode));
}
END_TEST

START_TEST(test_full_disk)
{
        g_auto(AtomicFile) file = ATOMIC_FILE_INIT;

        ck_assert_int_eq(atomic_file_open(&file, "/dev/full"), 0);
        ck_assert_int_eq(atomic_file_write(&file, "text", 4), -ENOSPC);
        ck_assert_int_eq(atomic_file_write(&file, "", 0), 0);
}
END_TEST

START_TEST(test_errors)
{
        g_auto(AtomicFile) file = ATOMIC_FILE_INIT;
        g_autofree char *nowhere = g_build_filename(path, "file", NULL);

        ck_assert_int_eq(atomic_file_open(&file, nowhere), -ENOENT);
        ck_assert_int_eq(atomic_file_open(&file, directory), -EISDIR);
        ck_assert_int_eq(symlink("name", path), 0);
        ck_assert_int_eq(atomic_file_open(&file, path), -ELOOP);
        ck_assert_int_eq(file.fd, -1);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("atomic-file");
        TCase *tcase = tcase_create("atomic-file");

        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_appears_when_whole);
        tcase_add_test(tcase, test_failure_leaves_the_old_one);
        tcase_add_test(tcase, test_mode_is_kept);
        tcase_add_loop_test(tcase, test_link_is_followed, 0, 4);
        tcase_add_test(tcase, test_in_directory_replaces_link);
        tcase_add_test(tcase, test_not_regular);
        tcase_add_test(tcase, test_full_disk);
        tcase_add_test(tcase, test_errors);
        suite_add_tcase(suite, tcase);
        return suite;
}
