/* SPDX-License-Identifier: MIT */

/* The work for the files of one recorded process is bounded, whatever the process has mapped */

#include "perf/images.h"

#include "support/suite.h"
#include "util/fd.h"

#include <fcntl.h>
#include <glib/gstdio.h>
#include <stdio.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define NS   UINT64_C(1000000000)
#define HOG  (G_MAXINT32 - 1) /* pid of no process, so without /proc entry */
#define BASE UINT64_C(0x7f0000000000)

static char *directory;

static void set_up(void)
{
        const struct rlimit limit = {2000, 2000};

        directory = g_dir_make_tmp("clrsym-images-work-XXXXXX", NULL);
        ck_assert_int_eq(setrlimit(RLIMIT_CPU, &limit), 0);
}

static void tear_down(void)
{
        g_rmdir(directory);
        g_free(directory);
}

/* Creates a sparse file of N bytes with the name of a program. */
static char *sparse_file(const char *name, off_t n)
{
        char *path = g_build_filename(directory, name, NULL);
        FD_AUTO int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0700);

        ck_assert_int_eq(ftruncate(fd, n), 0);
        return path;
}

static Mapping mapping_of(int32_t pid, char *path)
{
        struct stat status;

        ck_assert_int_eq(stat(path, &status), 0);
        return (Mapping){
                .pid = pid,
                .since = ((uint64_t)status.st_ctim.tv_sec + 1) * NS,
                .major = major(status.st_dev),
                .minor = minor(status.st_dev),
                .inode = status.st_ino,
                .path = path,
        };
}

/* Returns how often the file was opened since the watch began. */
static unsigned opens_of(int watch)
{
        _Alignas(struct inotify_event) char events[65536];
        ssize_t n = read(watch, events, sizeof(events));

        return n < 0 ? 0 : (unsigned)(n / (ssize_t)sizeof(struct inotify_event));
}

START_TEST(one_file_many_times)
{
        enum { N = 300 };
        FD_AUTO int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
        g_autofree char *path = sparse_file("program", 1 << 30);
        Mapping mapping = mapping_of(HOG, path);
        FILE *file = fdopen(memfd_create("mappings", MFD_CLOEXEC), "w+");
        Images images;
        unsigned i;

        for (i = 0; i < N; i++) {
                mapping.start = BASE + (uint64_t)i * 0x2000;
                mapping.end = mapping.start + 0x1000;
                mapping.offset = (uint64_t)i * 0x1000;
                mapping_write(&mapping, file);
        }
        rewind(file);
        ck_assert(images_init(&images, fileno(file)));
        ck_assert_int_ge(inotify_add_watch(watch, path, IN_OPEN), 0);
        for (i = 0; i < N; i++) {
                const ImageAddress address = {BASE + (uint64_t)i * 0x2000, path, BASE};

                ck_assert_uint_eq(images_find(&images, HOG, 1, &address).begin, 0);
        }
        ck_assert_uint_le(opens_of(watch), 8);
        images_deinit(&images);
        fclose(file);
        g_unlink(path);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("images-work");
        TCase *tests = tcase_create("images-work");

        tcase_add_checked_fixture(tests, set_up, tear_down);
        tcase_add_test(tests, one_file_many_times);
        tcase_set_timeout(tests, 300);
        suite_add_tcase(suite, tests);
        return suite;
}
