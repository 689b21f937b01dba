/* SPDX-License-Identifier: MIT */

/*
 * What perf script and the kernel print of a mapped file, and the lines that the filter gets of it
 */

#include "perf/mapping.h"

#include "support/suite.h"

#include <stdlib.h>
#include <string.h>

#define EVENT "PERF_RECORD_MMAP2 31/32: "
#define WHERE "[0x7f10c7680000(0xb4c000) @ 0x3000 fe:1f 350922 77]: "

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

START_TEST(test_event)
{
        static const char *const LINES[] = {
                ".NET TP Worker    32 26545.152507822: " EVENT WHERE "r-xp /a b/c [d].dll",
                "a: b 1.2: [001] 32 [000] 26545.152507822: " EVENT WHERE "--xs /a b/c [d].dll",
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(LINES); i++) {
                Mapping mapping;

                ck_assert(mapping_take_event(&mapping, LINES[i]));
                check_same(&mapping, &WANTED);
                mapping_deinit(&mapping);
        }
}
END_TEST

#define HEAD "x 32 1.000000000: " EVENT

/* perf 7 does it without being asked, perf 6 with --buildid-mmap. */
START_TEST(test_build_id)
{
        Mapping mapping;

        ck_assert(mapping_take_event(&mapping, HEAD
                                     "[0x7f10c7680000(0xb4c000) @ 0x3000 <0a8e9e67>]: r-xp /a.so"));
        ck_assert_uint_eq(mapping.start, WANTED.start);
        ck_assert_uint_eq(mapping.end, WANTED.end);
        ck_assert_uint_eq(mapping.offset, WANTED.offset);
        ck_assert_uint_eq(mapping.inode, 0);
        ck_assert(!mapping.has_generation);
        ck_assert_str_eq(mapping.path, "/a.so");
        mapping_deinit(&mapping);
}
END_TEST

/* What was mapped before the recording is from /proc: perf writes generation 0, whatever it is. */
START_TEST(test_before)
{
        Mapping mapping;

        ck_assert(mapping_take_event(
                &mapping, "x 0 0.000000000: " EVENT
                          "[0x7f10c7680000(0xb4c000) @ 0x3000 fe:1f 350922 0]: r-xp /a.dll"));
        ck_assert_uint_eq(mapping.inode, WANTED.inode);
        ck_assert(!mapping.has_generation);
        mapping_deinit(&mapping);
}
END_TEST

static const char *const NO_EVENTS[] = {
        "",
        "x 32 1.000000000: PERF_RECORD_MMAP2 ",
        "x 32 1.000000: " EVENT WHERE "r-xp /a.dll",
        "x 32 1.0000000000: " EVENT WHERE "r-xp /a.dll",
        "x 32 99999999999.000000000: " EVENT WHERE "r-xp /a.dll",
        ": " EVENT WHERE "r-xp /a.dll",
        EVENT WHERE "r-xp /a.dll",
        HEAD WHERE "rw-p /a.dll",
        HEAD WHERE "r-xp a.dll",
        HEAD WHERE "r-xp",
        HEAD WHERE "",
        HEAD "[0x7f10c7680000(0xb4c000) @ 0 <1234abcd]: r-xp /a.dll",
        HEAD "[0x7f10c7680000(0xb4c000) @ 0 <1234 5678>]: r-xp /a.dll",
        HEAD "[0x7f10c7680000(0xb4c000) @ 0 <1234abcd>",
        HEAD "[0x7f10c7680000(0) @ 0 fe:00 350922 0]: r-xp /a.dll",
        HEAD "[0xffffffffffff0000(0x10000) @ 0 fe:00 350922 0]: r-xp /a.dll",
        HEAD "[0x7f10c7680000(-1) @ 0 fe:00 350922 0]: r-xp /a.dll",
        HEAD "[0x7f10c7680000(0x1000) @ 0 100000000:00 350922 0]: r-xp /a.dll",
        HEAD "[0x7f10c7680000(0x1000) @ 0 fe:00 99999999999999999999 0]: r-xp /a.dll",
        "x 32 1.000000000: PERF_RECORD_MMAP2 -1/0: " WHERE "r-xp /a.dll",
        "x 32 1.000000000: PERF_RECORD_MMAP 31/32: " WHERE "r-xp /a.dll",
};

START_TEST(test_no_event)
{
        Mapping mapping;

        ck_assert_msg(!mapping_take_event(&mapping, NO_EVENTS[_i]), "%s", NO_EVENTS[_i]);
        ck_assert_ptr_null(mapping.path);
}
END_TEST

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
        /* A shorter line can have a shorter path, but needs all that is before it. */
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

        tcase_add_test(tests, test_event);
        tcase_add_test(tests, test_build_id);
        tcase_add_test(tests, test_before);
        tcase_add_loop_test(tests, test_no_event, 0, G_N_ELEMENTS(NO_EVENTS));
        tcase_add_test(tests, test_map);
        tcase_add_test(tests, test_line);
        suite_add_tcase(suite, tests);
        return suite;
}
