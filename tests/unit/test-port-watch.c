/* SPDX-License-Identifier: MIT */
#include "attach/port-watch.h"

#include "support/suite.h"
#include "util/remove-tree.h"
#include "util/unix-socket.h"

#include <glib.h>
#include <poll.h>
#include <unistd.h>

/* Number of files. */
#define STORM 2000

static void make_file(const char *dir, const char *name)
{
        g_autofree char *path = g_build_filename(dir, name, NULL);

        ck_assert(g_file_set_contents(path, "", 0, NULL));
}

static void make_socket(const char *dir, const char *name)
{
        g_autofree char *path = g_build_filename(dir, name, NULL);
        const int fd = unix_listen(path, 0600);

        ck_assert_int_ge(fd, 0);
        close(fd);
}

static bool is_readable(const PortWatch *watch)
{
        struct pollfd fd = {.fd = port_watch_fd(watch), .events = POLLIN};

        return poll(&fd, 1, 0) == 1;
}

static unsigned count_made(const GArray *made, pid_t pid)
{
        unsigned i, n = 0;

        for (i = 0; i < made->len; i++) {
                const PortMade *port = &g_array_index(made, PortMade, i);

                n += port->pid == pid && port->uid == geteuid();
        }
        return n;
}

/* Takes the events, also of other programs in /tmp; then waits until the watch can be readable
 * again. */
static void take(PortWatch *watch, GArray *made)
{
        g_array_set_size(made, 0);
        port_watch_take(watch, made);
        while (port_watch_fd(watch) < 0)
                g_usleep(1000);
}

/* Sockets with the name of a port, in $TMPDIR; links and files with such a name do not count. */
START_TEST(test_port)
{
        g_autofree char *dir = g_dir_make_tmp("port-watch-XXXXXX", NULL);
        g_autofree char *first = g_build_filename(dir, "dotnet-diagnostic-17-1-socket", NULL);
        g_autofree char *link = g_build_filename(dir, "dotnet-diagnostic-20-1-socket", NULL);
        g_autoptr(GArray) made = g_array_new(FALSE, FALSE, sizeof(PortMade));
        PortWatch *watch;

        g_setenv("TMPDIR", dir, TRUE);
        watch = port_watch_new();
        ck_assert_ptr_nonnull(watch);
        take(watch, made);
        make_socket(dir, "dotnet-diagnostic-17-1-socket");
        make_file(dir, "dotnet-diagnostic-18-1-socket");
        make_file(dir, "clr-debug-pipe-19-1-in");
        ck_assert_int_eq(symlink(first, link), 0);
        make_socket(dir, "dotnet-diagnostic-21-1");
        make_socket(dir, "dotnet-diagnostic-4194304-2-socket");
        ck_assert(is_readable(watch));
        take(watch, made);
        ck_assert_uint_eq(count_made(made, 17), 1);
        ck_assert_uint_eq(count_made(made, 4194304), 1);
        ck_assert_uint_eq(count_made(made, 18) + count_made(made, 19) + count_made(made, 20) +
                                  count_made(made, 21),
                          0);
        port_watch_free(watch);
        remove_tree(dir);
}
END_TEST

/* However many files appear, the watch is readable only once in a while. */
START_TEST(test_storm)
{
        g_autofree char *dir = g_dir_make_tmp("port-watch-XXXXXX", NULL);
        g_autoptr(GArray) made = g_array_new(FALSE, FALSE, sizeof(PortMade));
        const gint64 begin = g_get_monotonic_time();
        unsigned i, n_taken = 0;
        PortWatch *watch;

        g_setenv("TMPDIR", dir, TRUE);
        watch = port_watch_new();
        for (i = 0; i < STORM; i++) {
                g_autofree char *name = g_strdup_printf("%u", i);

                make_file(dir, name);
                if (!is_readable(watch))
                        continue;
                n_taken++;
                ck_assert(port_watch_take(watch, made));
        }
        ck_assert_uint_ge(n_taken, 1);
        ck_assert_int_le(n_taken, 1 + (g_get_monotonic_time() - begin) / 1000 / PORT_WATCH_REST_MS);
        ck_assert_uint_eq(count_made(made, 0), 0);
        port_watch_free(watch);
        remove_tree(dir);
}
END_TEST

/* Without a watch, the searches continue. */
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
        tcase_add_test(tcase, test_storm);
        tcase_add_test(tcase, test_none);
        suite_add_tcase(suite, tcase);
        return suite;
}
