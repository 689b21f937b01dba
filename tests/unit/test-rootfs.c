/* SPDX-License-Identifier: MIT */

/* Files below another root directory: links stay within it, and only regular files are opened */

#include "util/kept-roots.h"
#include "util/rootfs-read.h"
#include "util/rootfs.h"

#include "support/suite.h"
#include "util/fd.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <sched.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char *directory;
static int root;

static char *path_of(const char *name)
{
        return g_build_filename(directory, name, NULL);
}

static void set_up(void)
{
        g_autofree char *file = NULL, *link = NULL, *pipe = NULL, *below = NULL;

        directory = g_dir_make_tmp("clrsym-rootfs-XXXXXX", NULL);
        below = path_of("below");
        ck_assert_int_eq(g_mkdir(below, 0700), 0);
        file = path_of("file");
        ck_assert(g_file_set_contents(file, "content", -1, NULL));
        link = path_of("below/link");
        ck_assert_int_eq(symlink("/file", link), 0);
        pipe = path_of("pipe");
        ck_assert_int_eq(mkfifo(pipe, 0600), 0);
        root = open(directory, O_PATH | O_DIRECTORY | O_CLOEXEC);
        ck_assert_int_ge(root, 0);
}

static void tear_down(void)
{
        static const char *const NAMES[] = {"below/link", "below", "file", "pipe"};
        size_t i;

        fd_clear(&root);
        for (i = 0; i < G_N_ELEMENTS(NAMES); i++) {
                g_autofree char *path = path_of(NAMES[i]);

                g_remove(path);
        }
        g_rmdir(directory);
        g_free(directory);
}

START_TEST(test_links_stay_inside)
{
        static const char *const PATHS[] = {"/file", "file", "/below/link", "../../file"};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(PATHS); i++) {
                g_autoptr(GBytes) bytes = rootfs_read(root, PATHS[i], 4);

                ck_assert_msg(bytes && g_bytes_get_size(bytes) == 4, "%s", PATHS[i]);
                ck_assert(!memcmp(g_bytes_get_data(bytes, NULL), "cont", 4));
        }
        ck_assert_ptr_null(rootfs_read(root, "/etc/passwd", 4));
        ck_assert_int_eq(errno, ENOENT);
}
END_TEST

/* Starts a process below PATH, or in our own root directory; the process ends on request. */
static pid_t start_below(const char *path, bool is_below, int *ret_end)
{
        int ready[2], end[2];
        char byte = 0;
        pid_t pid;

        ck_assert(pipe2(ready, O_CLOEXEC) == 0 && pipe2(end, O_CLOEXEC) == 0);
        pid = fork();
        if (pid == 0) {
                close(end[1]);
                if (is_below && chroot(path) < 0 &&
                    (unshare(CLONE_NEWUSER) < 0 || chroot(path) < 0))
                        _exit(1);
                _exit(write(ready[1], &byte, 1) == 1 && read(end[0], &byte, 1) == 0 ? 0 : 1);
        }
        close(ready[1]);
        close(end[0]);
        ck_assert_int_eq(read(ready[0], &byte, 1), 1);
        close(ready[0]);
        *ret_end = end[1];
        return pid;
}

/* Paths of a recording after the end of a container. */
START_TEST(test_root_outlives_its_process)
{
        size_t i;

        for (i = 0; i < 2; i++) {
                FD_AUTO int kept = -1;
                const bool is_below = i == 0;
                int end, status;
                const pid_t pid = start_below(directory, is_below, &end);

                kept_roots_keep(pid);
                kept_roots_keep(pid);
                close(end);
                ck_assert_int_eq(waitpid(pid, &status, 0), pid);
                ck_assert_int_eq(status, 0);
                kept = rootfs_open_root(pid);
                ck_assert_int_eq(kept >= 0, is_below);
                if (is_below) {
                        g_autoptr(GBytes) bytes = rootfs_read(kept, "/below/link", 4);

                        ck_assert(bytes && !memcmp(g_bytes_get_data(bytes, NULL), "cont", 4));
                } else {
                        ck_assert_int_eq(errno, ENOENT);
                }
        }
        kept_roots_keep(-1);
        ck_assert_int_lt(rootfs_open_root(-1), 0);
}
END_TEST

/* Opening a pipe or a device can have an effect: the kernel would report the opening here. */
START_TEST(test_no_device_is_opened)
{
        g_autofree char *pipe = path_of("pipe");
        FD_AUTO int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        char events[256];

        ck_assert_int_ge(inotify_add_watch(watch, pipe, IN_OPEN), 0);
        ck_assert_ptr_null(rootfs_read(root, "/pipe", 4));
        ck_assert_int_eq(errno, EINVAL);
        ck_assert_int_lt(read(watch, events, sizeof(events)), 0);
        ck_assert_ptr_null(rootfs_read(root, "/below", 4));
        ck_assert_int_eq(errno, EINVAL);
}
END_TEST

/* A found file is opened, even if its name leads to another file now. */
START_TEST(test_found)
{
        g_autofree char *file = path_of("file");
        FD_AUTO int found = rootfs_find(root, "/below/link");
        FD_AUTO int below = rootfs_find(root, "/below");
        FD_AUTO int fd = -1;
        char bytes[8];

        ck_assert_int_ge(found, 0);
        ck_assert_int_eq(read(found, bytes, sizeof(bytes)), -1);
        ck_assert(g_file_set_contents(file, "other", -1, NULL));
        fd = rootfs_open_found(found);
        ck_assert_int_eq(read(fd, bytes, sizeof(bytes)), 7);
        ck_assert(!memcmp(bytes, "content", 7));
        ck_assert_int_eq(rootfs_open_found(below), -1);
        ck_assert_int_eq(errno, EINVAL);
}
END_TEST

START_TEST(test_program)
{
        FD_AUTO int program = rootfs_open_program(getpid());
        FD_AUTO int linked = rootfs_find_linked("/proc/self/exe");
        struct stat st, its;

        ck_assert_int_eq(fstat(program, &st), 0);
        ck_assert_int_eq(fstat(linked, &its), 0);
        ck_assert(st.st_ino == its.st_ino && st.st_dev == its.st_dev);
        ck_assert_int_eq(rootfs_open_program(INT_MAX), -1);
        ck_assert_int_eq(errno, ENOENT);
}
END_TEST

START_TEST(test_directories)
{
        FD_AUTO int below = rootfs_open(root, "/below", O_RDONLY | O_DIRECTORY);
        FD_AUTO int file = rootfs_open(root, "/file", O_PATH | O_DIRECTORY);

        ck_assert_int_ge(below, 0);
        ck_assert_int_lt(file, 0);
        ck_assert(!rootfs_is_socket(root, "/file"));
        ck_assert(!rootfs_is_socket(root, "/pipe"));
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("rootfs");
        TCase *tcase = tcase_create("rootfs");

        tcase_add_checked_fixture(tcase, set_up, tear_down);
        tcase_add_test(tcase, test_links_stay_inside);
        tcase_add_test(tcase, test_root_outlives_its_process);
        tcase_add_test(tcase, test_no_device_is_opened);
        tcase_add_test(tcase, test_found);
        tcase_add_test(tcase, test_program);
        tcase_add_test(tcase, test_directories);
        suite_add_tcase(suite, tcase);
        return suite;
}
