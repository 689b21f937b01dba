/* SPDX-License-Identifier: MIT */
#include "attach/port-watch.h"

#include "support/suite.h"

#include <glib.h>
#include <glib/gstdio.h>
#include <poll.h>

static void make_file(const char *dir, const char *name)
{
        g_autofree char *path = g_build_filename(dir, name, NULL);

        ck_assert(g_file_set_contents(path, "", 0, NULL));
        g_unlink(path);
}

static bool is_readable(const PortWatch *watch)
{
        struct pollfd fd = {.fd = port_watch_fd(watch), .events = POLLIN};

        return poll(&fd, 1, 0) == 1;
}

/* In $TMPDIR; other programs' files in /tmp, and theirs, are read away first. */
START_TEST(test_port)
{
        g_autofree char *dir = g_dir_make_tmp("port-watch-XXXXXX", NULL);
        g_autoptr(GArray) pids = g_array_new(FALSE, FALSE, sizeof(pid_t));
        unsigned i, n_found = 0;
        PortWatch *watch;

        g_setenv("TMPDIR", dir, TRUE);
        watch = port_watch_new();
        ck_assert_ptr_nonnull(watch);
        port_watch_take(watch, pids);
        g_array_set_size(pids, 0);
        make_file(dir, "dotnet-diagnostic-17-1-socket");
        make_file(dir, "clr-debug-pipe-18-1-in");
        make_file(dir, "dotnet-diagnostic-4194304-2-socket");
        ck_assert(is_readable(watch));
        ck_assert(port_watch_take(watch, pids));
        for (i = 0; i < pids->len; i++)
                n_found += g_array_index(pids, pid_t, i) == 17 ||
                           g_array_index(pids, pid_t, i) == 4194304;
        ck_assert_uint_eq(n_found, 2);
        port_watch_free(watch);
        g_rmdir(dir);
}
END_TEST

/* Without one, the searches go on. */
START_TEST(test_none)
{
        ck_assert_int_eq(port_watch_fd(NULL), -1);
        port_watch_free(NULL);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("port-watch");
        TCase *tcase = tcase_create("port-watch");

        tcase_add_test(tcase, test_port);
        tcase_add_test(tcase, test_none);
        suite_add_tcase(suite, tcase);
        return suite;
}
