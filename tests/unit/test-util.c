/* SPDX-License-Identifier: MIT */
#include "support/suite.h"
#include "util/cpu-share.h"
#include "util/fd.h"
#include "util/proc-stat.h"
#include "util/runtime-path.h"
#include "util/seconds-text.h"
#include "util/unix-socket.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

START_TEST(test_fd_is_closed)
{
        int copy;

        {
                FD_AUTO int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

                ck_assert_int_ge(fd, 0);
                copy = fd;
        }
        ck_assert_int_eq(fcntl(copy, F_GETFD), -1);
}
END_TEST

START_TEST(test_fd_can_open)
{
        struct rlimit before, limit;
        int next = dup(STDERR_FILENO);

        ck_assert_int_ge(next, 0);
        close(next);
        ck_assert(fd_can_open(16));
        ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
        limit = before;
        limit.rlim_cur = (rlim_t)next + 2;
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
        ck_assert(fd_can_open(2));
        ck_assert(!fd_can_open(3));
        ck_assert_int_eq(errno, EMFILE);
        ck_assert(fd_can_open(2)); /* these descriptors were closed */
        ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}
END_TEST

START_TEST(test_fd_is_kept_when_stolen)
{
        int copy;

        {
                FD_AUTO int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

                copy = fd_steal(&fd);
                ck_assert_int_eq(fd, -1);
        }
        ck_assert_int_ge(fcntl(copy, F_GETFD), 0);
        errno = ERANGE;
        fd_clear(&copy);
        ck_assert_int_eq(copy, -1);
        ck_assert_int_eq(errno, ERANGE);
}
END_TEST

static const struct {
        const char *text;
        const char *rest; /* NULL: not a number of seconds */
        uint64_t ns;
        bool is_whole; /* nine digits, and no text after them */
} SECONDS[] = {
        {"", NULL, 0, false},
        {".5", NULL, 0, false},
        {"-1.5", NULL, 0, false},
        {"1.", NULL, 0, false},
        {"1.x", NULL, 0, false},
        {"18446744073.709551616", NULL, 0, false},
        {"99999999999999999999.000000000", NULL, 0, false},
        {"7", "", UINT64_C(7000000000), false},
        {"7.5s", "s", UINT64_C(7500000000), false},
        {"1.045265 (TOD)", " (TOD)", UINT64_C(1045265000), false},
        {"1.0452651239", "", UINT64_C(1045265123), false},
        {"473.414890639", "", UINT64_C(473414890639), true},
        {"473.414890639:", ":", UINT64_C(473414890639), false},
        {"0.000000000", "", 0, true},
        {"18446744073.709551615", "", UINT64_MAX, true},
};

START_TEST(test_seconds)
{
        uint64_t ns = 1, whole = 1;
        const char *rest = seconds_parse(SECONDS[_i].text, &ns);

        ck_assert_pstr_eq(rest, SECONDS[_i].rest);
        ck_assert_uint_eq(ns, rest ? SECONDS[_i].ns : 1);
        ck_assert_int_eq(seconds_from_text(SECONDS[_i].text, &whole), SECONDS[_i].is_whole);
        if (SECONDS[_i].is_whole) {
                char buffer[SECONDS_TEXT_SIZE];

                ck_assert_uint_eq(whole, SECONDS[_i].ns);
                ck_assert_str_eq(seconds_to_text(whole, buffer), SECONDS[_i].text);
        }
}
END_TEST

#define STAT_REST "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 4711 20 21\n"

static const struct {
        const char *text;
        char state; /* 0: not a line of /proc/PID/stat */
        uint64_t start_ticks;
} STATS[] = {
        {"", 0, 0},
        {"1 (a", 0, 0},
        {"1 (a)", 0, 0},
        {"1 (a) ", 0, 0},
        {"1 (a) S 1 2 3", 0, 0},
        {"1 (a) S 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 x", 0, 0},
        {"1 (a) S " STAT_REST, 'S', 4711},
        {"1 (a) Z 1 (b) Z) R " STAT_REST, 'R', 4711},
        {"1 (a)\n) Z " STAT_REST, 'Z', 4711},
};

START_TEST(test_proc_stat)
{
        ProcStat stat = {.state = '?', .start_ticks = 1};
        bool ok = proc_stat_parse(STATS[_i].text, &stat);

        ck_assert_int_eq(ok, STATS[_i].state != 0);
        ck_assert_int_eq(stat.state, ok ? STATS[_i].state : '?');
        ck_assert_uint_eq(stat.start_ticks, ok ? STATS[_i].start_ticks : 1);
        if (ok)
                ck_assert_int_eq(stat.parent, 1);
}
END_TEST

START_TEST(test_proc_stat_of_ourselves)
{
        ProcStat stat;

        ck_assert(proc_stat_read(getpid(), &stat));
        ck_assert_int_eq(stat.state, 'R');
        ck_assert_uint_gt(stat.start_ticks, 0);
        ck_assert(!proc_stat_read(0, &stat));
        ck_assert(!proc_stat_read(-1, &stat));
}
END_TEST

START_TEST(test_runtime_path)
{
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        g_autofree char *own_directory = g_build_filename(directory, "clrsym", NULL);
        g_autofree char *own_file = g_build_filename(own_directory, "ingest", NULL);
        char *path;

        g_setenv("XDG_RUNTIME_DIR", directory, TRUE);
        g_setenv("CLRSYM_TEST", "", TRUE);
        path = runtime_path_find("CLRSYM_TEST", RUNTIME_INGEST);
        ck_assert_str_eq(path, "/run/clrsym/ingest");
        g_free(path);
        ck_assert_int_eq(g_mkdir(own_directory, 0700), 0);
        ck_assert(g_file_set_contents(own_file, "", 0, NULL));
        path = runtime_path_find("CLRSYM_TEST", RUNTIME_INGEST);
        ck_assert_str_eq(path, own_file);
        g_free(path);
        path = runtime_path_service(RUNTIME_INGEST);
        ck_assert_str_eq(path, geteuid() == 0 ? "/run/clrsym/ingest" : own_file);
        g_free(path);
        g_setenv("CLRSYM_TEST", "/given", TRUE);
        path = runtime_path_find("CLRSYM_TEST", RUNTIME_INGEST);
        ck_assert_str_eq(path, "/given");
        g_free(path);
        g_unlink(own_file);
        g_rmdir(own_directory);
        g_rmdir(directory);
}
END_TEST

START_TEST(test_unix_socket)
{
        g_autofree char *directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        g_autofree char *path = g_build_filename(directory, "socket", NULL);
        g_autofree char *too_long = g_strnfill(108, 'x');
        int fds[3] = {-1, -1, -1};
        FD_AUTO int listening = -1;
        struct stat st;
        size_t i;
        int r;

        ck_assert_int_eq(unix_connect("", 0, 0), -ENOENT);
        ck_assert_int_eq(unix_connect(path, 0, 0), -ENOENT);
        ck_assert_int_eq(unix_connect(too_long, 0, 0), -ENAMETOOLONG);
        ck_assert_int_eq(unix_listen(too_long, 0600), -ENAMETOOLONG);
        ck_assert_str_eq(unix_socket_reason(-ENAMETOOLONG),
                         "the path is longer than a socket's path can be");

        listening = unix_listen(path, 0600);
        ck_assert_int_ge(listening, 0);
        ck_assert_int_eq(stat(path, &st), 0);
        ck_assert_uint_eq(st.st_mode & 07777, 0600);
        ck_assert_int_eq(unix_listen(path, 0600), -EADDRINUSE);

        fds[0] = unix_connect(path, 0, UNIX_WAIT_FOREVER);
        ck_assert_int_eq(fcntl(fds[0], F_GETFL) & O_NONBLOCK, 0);
        fds[1] = unix_connect(path, SOCK_NONBLOCK, 0);
        ck_assert_int_ne(fcntl(fds[1], F_GETFL) & O_NONBLOCK, 0);
        /* A backlog of 0 takes one connection. */
        ck_assert_int_eq(listen(listening, 0), 0);
        ck_assert_int_eq(unix_connect(path, 0, 0), -EAGAIN);
        ck_assert_int_eq(unix_connect(path, 0, 30), -ETIMEDOUT);

        fd_clear(&listening);
        r = unix_connect(path, 0, 30);
        ck_assert_int_eq(r, -ECONNREFUSED);
        for (i = 0; i < G_N_ELEMENTS(fds); i++)
                fd_clear(&fds[i]);
        g_unlink(path);
        g_rmdir(directory);
}
END_TEST

/* No part of the elapsed time. */
#define NO_PART INT64_MAX

START_TEST(test_cpu_share)
{
        const int64_t burst = 5 * G_TIME_SPAN_MILLISECOND * 1000;
        CpuShare share = {0};
        int64_t begin;

        ck_assert(cpu_share_begin(&share, burst, NO_PART));
        g_usleep(20 * G_TIME_SPAN_MILLISECOND);
        cpu_share_end(&share);
        /* The work waited, so it has used next to nothing. */
        ck_assert(cpu_share_begin(&share, burst, NO_PART));
        begin = clock_ns(CLOCK_THREAD_CPUTIME_ID);
        while (clock_ns(CLOCK_THREAD_CPUTIME_ID) - begin < 2 * burst)
                ;
        cpu_share_end(&share);
        ck_assert(!cpu_share_begin(&share, burst, NO_PART));
        cpu_share_end(&share);
        g_usleep(20 * G_TIME_SPAN_MILLISECOND);
        ck_assert(cpu_share_begin(&share, burst, 1));
        ck_assert_int_le(share.left, burst);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("util");
        TCase *tcase = tcase_create("util");

        tcase_add_test(tcase, test_fd_is_closed);
        tcase_add_test(tcase, test_fd_is_kept_when_stolen);
        tcase_add_test(tcase, test_fd_can_open);
        tcase_add_loop_test(tcase, test_seconds, 0, G_N_ELEMENTS(SECONDS));
        tcase_add_loop_test(tcase, test_proc_stat, 0, G_N_ELEMENTS(STATS));
        tcase_add_test(tcase, test_proc_stat_of_ourselves);
        tcase_add_test(tcase, test_runtime_path);
        tcase_add_test(tcase, test_unix_socket);
        tcase_add_test(tcase, test_cpu_share);
        suite_add_tcase(suite, tcase);
        return suite;
}
