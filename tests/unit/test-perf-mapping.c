/* SPDX-License-Identifier: MIT */

/* The kernel's lines for mapped files, and the lines for the namer */

#include "perf/mapping.h"

#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

static const Mapping WANTED = {
        .pid = 31,
        .start = UINT64_C(0x7f10c7680000),
        .end = UINT64_C(0x7f10c81cc000),
        .offset = 0x3000,
        .time = UINT64_C(26545152507822),
        .major = 0xfe,
        .minor = 0x1f,
        .inode = 350922,
        .has_generation = true,
        .generation = 77,
        .path = (char *)"/a b/c [d].dll",
};

static void check_same(const Mapping *one, const Mapping *other)
{
        ck_assert_int_eq(one->pid, other->pid);
        ck_assert_uint_eq(one->start, other->start);
        ck_assert_uint_eq(one->end, other->end);
        ck_assert_uint_eq(one->offset, other->offset);
        ck_assert_uint_eq(one->time, other->time);
        ck_assert_uint_eq(one->since, other->since);
        ck_assert_uint_eq(one->major, other->major);
        ck_assert_uint_eq(one->minor, other->minor);
        ck_assert_uint_eq(one->inode, other->inode);
        ck_assert_int_eq(one->has_generation, other->has_generation);
        ck_assert_uint_eq(one->generation, other->generation);
        ck_assert_str_eq(one->path, other->path);
}

START_TEST(test_map)
{
        static const char *const NONE[] = {
                "",
                "7f10c7680000-7f10c81cc000 rw-p 00003000 fe:1f 350922     /a.dll",
                "7f10c7680000-7f10c7680000 r-xp 00003000 fe:1f 350922     /a.dll",
                "7f10c7680000-7f10c81cc000 r-xp 00003000 fe:1f 350922",
                "7f10c7680000-7f10c81cc000 r-xp 00003000 fe:1f 350922 ",
                "7f10c7680000-7f10c81cc000 r-xp 00000000 00:00 0          [vdso]",
                "7f10c7680000-7f10c81cc000 r-xp",
                "x-y r-xp 00003000 fe:1f 350922     /a.dll",
        };
        Mapping mapping, wanted = WANTED;
        size_t i;

        wanted.pid = 0;
        wanted.time = wanted.generation = 0;
        wanted.has_generation = false;
        ck_assert(mapping_take_map(
                &mapping, "7f10c7680000-7f10c81cc000 r-xp 00003000 fe:1f 350922            "
                          "         /a b/c [d].dll"));
        check_same(&mapping, &wanted);
        mapping_deinit(&mapping);
        for (i = 0; i < G_N_ELEMENTS(NONE); i++) {
                ck_assert_msg(!mapping_take_map(&mapping, NONE[i]), "%s", NONE[i]);
                ck_assert_ptr_null(mapping.path);
        }
}
END_TEST

START_TEST(test_line)
{
        Mapping mapping, wanted = WANTED;
        char *text = NULL;
        size_t n = 0, i;
        FILE *file = open_memstream(&text, &n);

        wanted.since = UINT64_MAX;
        wanted.generation = UINT64_MAX;
        mapping_write(&wanted, file);
        fclose(file);
        ck_assert_int_eq(text[n - 1], '\n');
        text[n - 1] = '\0';
        ck_assert(mapping_take_line(&mapping, text));
        check_same(&mapping, &wanted);
        mapping_deinit(&mapping);
        /* A truncated line can have a shorter path, but needs all fields before the path. */
        for (i = strchr(text, '/') - text + 1; i > 0; i--) {
                text[i - 1] = '\0';
                ck_assert(!mapping_take_line(&mapping, text));
        }
        free(text);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("perf-mapping");
        TCase *tests = tcase_create("lines");

        tcase_add_test(tests, test_map);
        tcase_add_test(tests, test_line);
        suite_add_tcase(suite, tests);
        return suite;
}
