/* SPDX-License-Identifier: MIT */
#include "attach/processes.h"
#include "attach/search.h"

#include "support/suite.h"
#include "util/unix-socket.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* More tries than the search makes for any process. */
#define MANY 1000

static const SearchScope MACHINE = {.is_whole_machine = true, .uid = PROCESSES_ANY_USER},
                         ROOTS = {.uid = PROCESSES_ANY_USER};

static char *directory, *library;
static pid_t child;

/* Makes each process of that kind look like one with the runtime mapped, without looking into
 * it. */
static void set_up(void)
{
        int ready[2];
        char byte;

        directory = g_dir_make_tmp("clrsym-XXXXXX", NULL);
        library = g_build_filename(directory, "libcoreclr.so", NULL);
        ck_assert(g_file_set_contents(library, "runtime", -1, NULL));
        ck_assert_int_eq(pipe(ready), 0);
        child = fork();
        if (child == 0) {
                int fd = open(library, O_RDONLY);

                prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0) == MAP_FAILED ||
                    write(ready[1], "r", 1) != 1)
                        _exit(1);
                for (;;)
                        pause();
        }
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        close(ready[1]);
}

static void tear_down(void)
{
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        g_unlink(library);
        g_rmdir(directory);
        g_free(library);
        g_free(directory);
}

static bool finds_child(Search *search)
{
        g_autoptr(GArray) found = search_look(search);
        guint i;

        for (i = 0; i < found->len; i++)
                if (g_array_index(found, pid_t, i) == child)
                        return true;
        return false;
}

/* The search finds a process once, and again after each failed attachment, up to a limit. */
START_TEST(test_retry)
{
        Search *search = search_new(&MACHINE);
        unsigned n = 0;

        ck_assert(finds_child(search));
        ck_assert(search_has(search, child));
        ck_assert(!finds_child(search));
        while (search_retry(search, child)) {
                ck_assert(!search_has(search, child));
                ck_assert(finds_child(search));
                ck_assert_uint_lt(n++, MANY);
        }
        ck_assert_uint_gt(n, 1);
        ck_assert(!finds_child(search));
        ck_assert(!search_retry(search, G_MAXINT32));
        search_free(search);
}
END_TEST

static bool is_readable(int fd)
{
        struct pollfd polled = {.fd = fd, .events = POLLIN};

        return poll(&polled, 1, 0) == 1;
}

/* The search does not find another user's process. */
START_TEST(test_user)
{
        const SearchScope scope = {.is_whole_machine = true, .uid = geteuid() + 1};
        Search *search = search_new(&scope);

        ck_assert(!finds_child(search));
        ck_assert(!search_has(search, child));
        search_free(search);
}
END_TEST

/* A port wakes a search, also a port of an unknown pid. */
START_TEST(test_port)
{
        const pid_t numbers[] = {child, G_MAXINT32};
        g_autofree char *name = g_strdup_printf("dotnet-diagnostic-%d-1-socket", (int)numbers[_i]);
        g_autofree char *path = g_build_filename(directory, name, NULL);
        Search *search;
        int fd;

        g_setenv("TMPDIR", directory, TRUE);
        search = search_new(&MACHINE);
        ck_assert(finds_child(search));
        search_take_ports(search);
        while (search_fd(search) < 0)
                g_usleep(1000);
        fd = unix_listen(path, 0600);
        ck_assert_int_ge(fd, 0);
        close(fd);
        ck_assert(is_readable(search_fd(search)));
        ck_assert(search_take_ports(search));
        /* The process is attached, or soon will be. */
        ck_assert(!finds_child(search));
        ck_assert(search_has(search, child));
        ck_assert_uint_eq(search_owner(search, child), geteuid());
        g_unlink(path);
        search_free(search);
}
END_TEST

/* Root directories, and whether the search finds the child. */
START_TEST(test_roots)
{
        const struct {
                pid_t root;
                bool is_found;
        } rows[] = {{getpid(), true}, {child, true}, {G_MAXINT32, false}};
        Search *search = search_new(&ROOTS);

        search_add_root(search, rows[_i].root);
        ck_assert_int_eq(finds_child(search), rows[_i].is_found);
        ck_assert_int_eq(search_descends(search, child), rows[_i].is_found);
        search_free(search);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("search");
        TCase *tcase = tcase_create("search");

        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_add_test(tcase, test_retry);
        tcase_add_test(tcase, test_user);
        tcase_add_loop_test(tcase, test_port, 0, 2);
        tcase_add_loop_test(tcase, test_roots, 0, 3);
        suite_add_tcase(suite, tcase);
        return suite;
}
