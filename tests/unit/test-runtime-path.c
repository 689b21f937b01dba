/* SPDX-License-Identifier: MIT */

/* The sockets that a program connects to, by $XDG_RUNTIME_DIR and the owner of this directory. */

#include "util/runtime-path.h"

#include "support/suite.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <stdbool.h>
#include <sys/stat.h>
#include <unistd.h>

static char *directory, *own, *query;

static void setup(void)
{
        directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        own = g_build_filename(directory, "clrsym", NULL);
        query = g_build_filename(own, RUNTIME_QUERY, NULL);
        ck_assert_int_eq(g_mkdir(own, 0755), 0);
        ck_assert(g_file_set_contents(query, "", 0, NULL));
        g_setenv("XDG_RUNTIME_DIR", directory, true);
        g_unsetenv("CLRSYM_TEST_SOCKET");
}

static void teardown(void)
{
        g_unlink(query);
        g_rmdir(own);
        g_rmdir(directory);
        g_free(directory);
        g_free(own);
        g_free(query);
}

static void assert_found(const char *want)
{
        g_autofree char *path = runtime_path_find("CLRSYM_TEST_SOCKET", RUNTIME_QUERY);

        ck_assert_str_eq(path, want);
}

START_TEST(test_own)
{
        assert_found(query);
        ck_assert_str_eq(runtime_directory_own(), directory);
        g_setenv("CLRSYM_TEST_SOCKET", "/elsewhere", true);
        assert_found("/elsewhere");
}
END_TEST

/* The environment after su, or sudo -E. */
START_TEST(test_of_another_user)
{
        enum { OTHER = 65534 };

        if (geteuid() != 0)
                return;
        ck_assert_int_eq(chown(directory, OTHER, OTHER), 0);
        ck_assert_ptr_null(runtime_directory_own());
        ck_assert_ptr_null(runtime_path_own(RUNTIME_QUERY));
        assert_found(RUNTIME_SYSTEM "/" RUNTIME_QUERY);
}
END_TEST

START_TEST(test_none)
{
        g_setenv("XDG_RUNTIME_DIR", "/nonexistent", true);
        assert_found(RUNTIME_SYSTEM "/" RUNTIME_QUERY);
        g_unsetenv("XDG_RUNTIME_DIR");
        assert_found(RUNTIME_SYSTEM "/" RUNTIME_QUERY);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("runtime-path");
        TCase *tcase = tcase_create("runtime-path");

        tcase_add_checked_fixture(tcase, setup, teardown);
        tcase_add_test(tcase, test_own);
        tcase_add_test(tcase, test_of_another_user);
        tcase_add_test(tcase, test_none);
        suite_add_tcase(suite, tcase);
        return suite;
}
