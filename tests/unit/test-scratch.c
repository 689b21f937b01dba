/* SPDX-License-Identifier: MIT */

/*
 * The private directories of feeders: whose is left over is removed, and nobody else's
 */

#include "util/scratch.h"

#include "support/suite.h"

#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *directory;

/* g_get_tmp_dir() looks at TMPDIR once in a process: each test is one. */
static void set_up(void)
{
        directory = g_mkdtemp(g_strdup("/tmp/clrsym-scratch-XXXXXX"));
        ck_assert_ptr_nonnull(directory);
        g_setenv("TMPDIR", directory, TRUE);
}

static void tear_down(void)
{
        ck_assert_int_eq(g_rmdir(directory), 0);
        g_free(directory);
}

static char *make_file(const char *parent, const char *name)
{
        char *path = g_build_filename(parent, name, NULL);

        ck_assert(g_file_set_contents(path, "x", 1, NULL));
        return path;
}

/* A feeder that has a scratch directory until it is killed; its path into RET_PATH. */
static pid_t start_feeder(char **ret_path)
{
        char path[256] = "";
        int ends[2];
        pid_t pid;

        ck_assert_int_eq(pipe(ends), 0);
        pid = fork();
        ck_assert_int_ge(pid, 0);
        if (pid == 0) {
                Scratch *scratch = scratch_new(NULL);

                if (scratch)
                        g_free(make_file(scratch_path(scratch), "live"));
                if (!scratch ||
                    write(ends[1], scratch_path(scratch), strlen(scratch_path(scratch))) < 0)
                        _exit(1);
                pause();
                _exit(0);
        }
        close(ends[1]);
        ck_assert_int_gt(read(ends[0], path, sizeof(path) - 1), 0);
        close(ends[0]);
        *ret_path = g_strdup(path);
        return pid;
}

START_TEST(is_private_and_goes)
{
        g_autoptr(GError) error = NULL;
        Scratch *scratch = scratch_new(&error);
        g_autofree char *path = NULL, *file = NULL;
        GStatBuf st;

        ck_assert_msg(scratch != NULL, "%s", error ? error->message : "");
        path = g_strdup(scratch_path(scratch));
        ck_assert_int_eq(g_lstat(path, &st), 0);
        ck_assert_uint_eq(st.st_mode & 0777, 0700);
        file = make_file(path, "excerpt");
        scratch_free(scratch);
        ck_assert_int_lt(g_lstat(path, &st), 0);
}
END_TEST

START_TEST(removes_what_is_left_over)
{
        g_autofree char *path = NULL, *other_path = NULL, *file = NULL, *others = NULL;
        pid_t pid = start_feeder(&path), other = start_feeder(&other_path);
        Scratch *scratch;

        /* As it might be named, but no directory; and another program's. */
        file = make_file(directory, "clrsym-feed-file");
        others = g_build_filename(directory, "clrsym-other", NULL);
        ck_assert_int_eq(g_mkdir(others, 0700), 0);

        scratch = scratch_new(NULL);
        ck_assert_ptr_nonnull(scratch);
        ck_assert(g_file_test(path, G_FILE_TEST_IS_DIR));
        ck_assert(g_file_test(other_path, G_FILE_TEST_IS_DIR));
        scratch_free(scratch);

        kill(pid, SIGKILL);
        ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
        ck_assert(g_file_test(path, G_FILE_TEST_IS_DIR));
        scratch = scratch_new(NULL);
        ck_assert_ptr_nonnull(scratch);
        ck_assert(!g_file_test(path, G_FILE_TEST_EXISTS));
        ck_assert(g_file_test(other_path, G_FILE_TEST_IS_DIR));
        scratch_free(scratch);

        kill(other, SIGKILL);
        ck_assert_int_eq(waitpid(other, NULL, 0), other);
        scratch_free(scratch_new(NULL));
        ck_assert(!g_file_test(other_path, G_FILE_TEST_EXISTS));
        ck_assert_int_eq(g_unlink(file), 0);
        ck_assert_int_eq(g_rmdir(others), 0);
}
END_TEST

START_TEST(fails_without_a_place)
{
        g_autofree char *path = make_file(directory, "file");
        g_autoptr(GError) error = NULL;

        g_setenv("TMPDIR", path, TRUE);
        ck_assert_ptr_null(scratch_new(&error));
        ck_assert_ptr_nonnull(error);
        ck_assert_int_eq(g_unlink(path), 0);
}
END_TEST

Suite *suite_new(void)
{
        TCase *tests = tcase_create("scratch");
        Suite *suite = suite_create("scratch");

        tcase_add_checked_fixture(tests, set_up, tear_down);
        tcase_add_test(tests, is_private_and_goes);
        tcase_add_test(tests, removes_what_is_left_over);
        tcase_add_test(tests, fails_without_a_place);
        suite_add_tcase(suite, tests);
        return suite;
}
