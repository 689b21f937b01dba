/* SPDX-License-Identifier: MIT */

/*
 * The functions of precompiled images: of an image built by the test, of images with wrong values,
 * and of the runtime's own library, if a runtime is installed
 */

#include "perf/r2r-image.h"

#include "support/r2r-file.h"
#include "support/suite.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static int file_of(const void *bytes, size_t n)
{
        int fd = memfd_create("image", MFD_CLOEXEC);

        ck_assert_int_ge(fd, 0);
        while (n) {
                ssize_t written = write(fd, bytes, n);

                ck_assert_int_gt(written, 0);
                bytes = (const char *)bytes + written;
                n -= (size_t)written;
        }
        return fd;
}

static int read_bytes(R2RImage *image, const void *bytes, size_t n, const char **ret_reason)
{
        int fd = file_of(bytes, n);
        int r = r2r_image_read(image, &(ImageBytes){.fd = fd}, ret_reason);

        close(fd);
        return r;
}

/* Returns the begin of the function at OFFSET, minus the begin of the code; -1 if there is no
 * function. */
static int64_t begin_at(const R2RImage *image, uint64_t offset)
{
        uint32_t distance = 0;
        const R2RFunction *function = r2r_image_find(image, offset, &distance);

        if (!function)
                return -1;
        ck_assert_uint_lt(distance, function->end - function->begin);
        return (int64_t)(offset - distance);
}

START_TEST(test_good)
{
        static const struct {
                uint64_t offset;
                int64_t begin;
        } ROWS[] = {
                {CODE - 1, -1},
                {CODE, CODE},
                {CODE + 0xf, CODE},
                {CODE + 0x10, CODE + 0x10},
                {CODE + 0x11, -1},
                {CODE + 0x1f, -1},
                {CODE + 0x20, CODE + 0x20},
                {CODE + 0x7f, CODE + 0x20},
                {CODE + 0x80, -1},
                {CODE + 0x90, CODE + 0x90},
                {TEXT + N_TEXT - 1, CODE + 0x90},
                {TEXT + N_TEXT, -1},
                {0, -1},
                {DATA + 1, -1},
                {N_IMAGE, -1},
                {UINT64_MAX, -1},
                /* An RVA is not an offset. */
                {RVA(CODE), -1},
                {UINT64_C(0x100000000) + CODE, -1},
        };
        uint8_t bytes[N_IMAGE];
        const char *reason = NULL;
        R2RImage image;
        size_t i;

        image_build(bytes);
        ck_assert_int_eq(read_bytes(&image, bytes, sizeof(bytes), &reason), 0);
        ck_assert_uint_eq(image.functions.n, N_FUNCTIONS);
        ck_assert_mem_eq(image.functions.rows, IMAGE_FUNCTIONS, sizeof(IMAGE_FUNCTIONS));
        for (i = 0; i < G_N_ELEMENTS(ROWS); i++)
                ck_assert_int_eq(begin_at(&image, ROWS[i].offset), ROWS[i].begin);
        r2r_image_deinit(&image);
        ck_assert_ptr_null(image.functions.rows);
}
END_TEST

/* A change in the image, and the expected error. */
typedef struct Lie {
        const char *what, *reason;
        size_t at;
        uint32_t value;
        unsigned n; /* number of bytes */
} Lie;

#define NONE      "it has no precompiled code"
#define CONFLICT  "its tables contradict each other"
#define TRUNCATED "it is truncated"
#define DAMAGED   "its headers contradict each other"
#define NOT_PE    "it is not a PE file"
#define OTHER     "it is for another machine, or has no precompiled code"
#define FIRST     HEADERS
#define SECOND    (HEADERS + 40)

static const Lie LIES[] = {
        {"no MZ", NOT_PE, 0, 0x464c457f, 4},
        {"headers after the end", TRUNCATED, 60, N_IMAGE, 4},
        {"headers at the end", TRUNCATED, 60, N_IMAGE - 20, 4},
        {"headers far away", TRUNCATED, 60, UINT32_MAX, 4},
        {"no PE", NOT_PE, COFF, 0x454c, 2},
        {"any machine", OTHER, COFF + 4, 0x14c, 2},
        {"arm", OTHER, COFF + 4, 0x1c2 ^ 0x7b79, 2},
        {"rows of arm64", CONFLICT, COFF + 4, 0xaa64 ^ 0x7b79, 2},
        {"no optional header", NOT_PE, COFF + 20, 0, 2},
        {"an optional header without directories", DAMAGED, COFF + 20, 112, 2},
        {"an optional header over the end", TRUNCATED, COFF + 20, 0xffff, 2},
        {"PE32", NONE, OPTIONAL, 0x10b, 2},
        {"few directories", NONE, OPTIONAL + 108, 14, 4},
        {"no CLR header", NONE, OPTIONAL + 112 + 14 * 8, 0, 4},
        {"a CLR header in no section", CONFLICT, OPTIONAL + 112 + 14 * 8, 0x1000, 4},
        {"a CLR header over the end of its section", CONFLICT, OPTIONAL + 112 + 14 * 8,
         DATA_RVA + N_DATA - 8, 4},
        {"many sections", DAMAGED, COFF + 6, 0xffff, 2},
        {"no sections", CONFLICT, COFF + 6, 0, 2},
        {"a section of another name's code", CONFLICT, FIRST + 36, 0x40000040, 4},
        {"a section over the end of the file", DAMAGED, SECOND + 20, DATA + 1, 4},
        {"a section after it", DAMAGED, SECOND + 20, UINT32_MAX, 4},
        {"a section over the end of memory", DAMAGED, SECOND + 12, UINT32_MAX - 8, 4},
        {"sections that overlap in the file", CONFLICT, SECOND + 20, TEXT + N_TEXT - 1, 4},
        {"sections that are one in the file", CONFLICT, SECOND + 20, TEXT, 4},
        {"sections that overlap in memory", DAMAGED, SECOND + 12, TEXT_RVA + N_TEXT - 1, 4},
        {"a section shorter than the code", CONFLICT, FIRST + 8, N_TEXT - 1, 4},
        {"a section without the code", CONFLICT, FIRST + 8, CODE - TEXT, 4},
        {"an empty section", CONFLICT, FIRST + 8, 0, 4},
        {"a short CLR header", NONE, CLR, 71, 4},
        {"no native header", NONE, CLR + 64, 0, 4},
        {"a native header in no section", CONFLICT, CLR + 64, 0x7fffffff, 4},
        {"a native header at the end of memory", CONFLICT, CLR + 64, UINT32_MAX, 4},
        {"another native header", NONE, R2R, 0x4e474e, 4},
        {"no parts", NONE, R2R + 12, 0, 4},
        {"more parts than may be", CONFLICT, R2R + 12, UINT32_MAX, 4},
        {"more parts than there are", CONFLICT, R2R + 12, 1024, 4},
        {"no table", NONE, R2R + 28, 103, 4},
        {"two tables", CONFLICT, R2R + 16, 102, 4},
        {"an empty table", NONE, R2R + 36, 0, 4},
        {"a table with a part of a row", CONFLICT, R2R + 36, 47, 4},
        {"a table longer than its section", CONFLICT, R2R + 36, N_TEXT, 4},
        {"a table longer than the file", CONFLICT, R2R + 36, 0x7ffffff8, 4},
        {"a table longer than memory", CONFLICT, R2R + 36, 0xfffffffc, 4},
        {"a table in no section", CONFLICT, R2R + 32, 0x100, 4},
        {"a function that ends before it begins", CONFLICT, TABLE + 4, RVA(CODE - 1), 4},
        {"an empty function", CONFLICT, TABLE + 4, RVA(CODE), 4},
        {"functions that overlap", CONFLICT, TABLE + 4, RVA(CODE + 0x11), 4},
        {"functions that are not sorted", CONFLICT, TABLE + 24, RVA(CODE + 8), 4},
        {"a function after its section", CONFLICT, TABLE + 40, RVA(TEXT + N_TEXT) + 1, 4},
        {"a function at the end of memory", CONFLICT, TABLE + 40, UINT32_MAX, 4},
        {"a function in no section", CONFLICT, TABLE, 0x100, 4},
        {"a version to come", "clrsym does not know version 36 of the format of precompiled code",
         R2R + 4, 36, 2},
        {"a version far away",
         "clrsym does not know that version of the format of precompiled code", R2R + 4, 999, 2},
};

START_TEST(test_lie)
{
        const Lie *lie = &LIES[_i];
        const char *reason = "";
        uint8_t bytes[N_IMAGE];
        R2RImage image;

        image_build(bytes);
        memcpy(bytes + lie->at, &lie->value, lie->n);
        ck_assert_msg(read_bytes(&image, bytes, sizeof(bytes), &reason) == -EBADMSG, "%s",
                      lie->what);
        ck_assert_msg(!strcmp(reason, lie->reason), "%s: %s", lie->what, reason);
        ck_assert_ptr_null(image.functions.rows);
        ck_assert_uint_eq(image.functions.n, 0);
        ck_assert_int_eq(begin_at(&image, CODE), -1);
        r2r_image_deinit(&image);
}
END_TEST

/* Code must be in an executable section, even if all else is valid. */
START_TEST(test_data_is_no_code)
{
        const R2RFunction function = {DATA_RVA, DATA_RVA + 8};
        const char *reason = "";
        uint8_t bytes[N_IMAGE];
        R2RImage image;

        image_build(bytes);
        image_put_functions(bytes, &function, 1);
        image_put32(bytes, R2R + 36, 12);
        ck_assert_int_eq(read_bytes(&image, bytes, sizeof(bytes), &reason), -EBADMSG);
        ck_assert_str_eq(reason, CONFLICT);
        image_put32(bytes, SECOND + 36, 0x60000020);
        ck_assert_int_eq(read_bytes(&image, bytes, sizeof(bytes), &reason), 0);
        ck_assert_int_eq(begin_at(&image, DATA + 7), DATA);
        r2r_image_deinit(&image);
}
END_TEST

/* Rows for arm64 have no ends: the unwind data has the length in instructions. */
static const struct {
        uint32_t unwind, at_data; /* value of the second row, and value at DATA + 4 */
        uint32_t length;          /* length of the second function; 0: table refused */
} ARM64[] = {
        {DATA_RVA + 4, 4, 16},
        {DATA_RVA + 4, 0xfffc0004, 16}, /* other meaning of the remaining bits */
        {4 << 2 | 1, 0, 16},
        {4 << 2 | 0x00ff2003, 0, 16},
        {DATA_RVA + 4, 0, 0},
        {DATA_RVA + 4, 9, 0}, /* overlaps the next function */
        {9 << 2 | 1, 0, 0},
        {1, 0, 0},
        {DATA_RVA + N_DATA - 4, 0, 0},
        {DATA_RVA + N_DATA, 4, 0},
        {DATA_RVA - 4, 4, 0},
        {UINT32_MAX - 3, 4, 0},
        {0, 4, 0},
};

START_TEST(test_arm64)
{
        const char *reason = "";
        uint8_t bytes[N_IMAGE];
        R2RImage image;

        image_build(bytes);
        image_put16(bytes, COFF + 4, 0xaa64 ^ 0x7b79);
        image_put32(bytes, R2R + 36, 24);
        image_put32(bytes, TABLE, RVA(CODE));
        image_put32(bytes, TABLE + 4, DATA_RVA);
        image_put32(bytes, TABLE + 8, RVA(CODE + 0x10));
        image_put32(bytes, TABLE + 12, ARM64[_i].unwind);
        image_put32(bytes, TABLE + 16, RVA(CODE + 0x30));
        image_put32(bytes, TABLE + 20, 8 << 2 | 1);
        memset(bytes + DATA, 0, N_DATA);
        image_put32(bytes, DATA, 3);
        image_put32(bytes, DATA + 4, ARM64[_i].at_data);
        if (!ARM64[_i].length) {
                ck_assert_int_eq(read_bytes(&image, bytes, sizeof(bytes), &reason), -EBADMSG);
                ck_assert_str_eq(reason, CONFLICT);
                return;
        }
        ck_assert_int_eq(read_bytes(&image, bytes, sizeof(bytes), &reason), 0);
        ck_assert_int_eq(begin_at(&image, CODE + 11), CODE);
        ck_assert_int_eq(begin_at(&image, CODE + 12), -1);
        ck_assert_int_eq(begin_at(&image, CODE + 0x10 + ARM64[_i].length - 1), CODE + 0x10);
        ck_assert_int_eq(begin_at(&image, CODE + 0x10 + ARM64[_i].length), -1);
        ck_assert_int_eq(begin_at(&image, CODE + 0x4f), CODE + 0x30);
        r2r_image_deinit(&image);
}
END_TEST

START_TEST(test_truncated)
{
        const char *reason;
        uint8_t bytes[N_IMAGE];
        R2RImage image;
        size_t n;

        image_build(bytes);
        for (n = 0; n < sizeof(bytes); n++) {
                reason = NULL;
                ck_assert_int_eq(read_bytes(&image, bytes, n, &reason), -EBADMSG);
                ck_assert_ptr_nonnull(reason);
        }
}
END_TEST

START_TEST(test_no_file)
{
        const char *reason = NULL;
        R2RImage image;
        int fds[2];

        ck_assert_int_eq(r2r_image_read(&image, &(ImageBytes){.fd = -1}, &reason), -EBADF);
        ck_assert_str_eq(reason, "it cannot be read");
        ck_assert_int_eq(pipe(fds), 0);
        ck_assert_int_eq(r2r_image_read(&image, &(ImageBytes){.fd = fds[0]}, &reason), -EBADMSG);
        ck_assert_str_eq(reason, NOT_PE);
        close(fds[0]);
        close(fds[1]);
}
END_TEST

/* Checks that lookups agree with the table that was read, whatever its values are. */
static void check_consistent(const R2RImage *image)
{
        uint32_t end = 0;
        size_t i;

        for (i = 0; i < image->functions.n; i++) {
                const R2RFunction *function = &image->functions.rows[i];

                ck_assert_uint_le(end, function->begin);
                ck_assert_uint_lt(function->begin, function->end);
                end = function->end;
        }
}

START_TEST(test_any_bytes)
{
        GRand *rand = g_rand_new_with_seed(7);
        unsigned n_read = 0, i, j;

        for (i = 0; i < 20000; i++) {
                const char *reason = NULL;
                uint8_t bytes[N_IMAGE];
                R2RImage image;

                image_build(bytes);
                for (j = g_rand_int_range(rand, 1, 6); j > 0; j--)
                        bytes[g_rand_int_range(rand, 0, CODE)] = (uint8_t)g_rand_int(rand);
                if (read_bytes(&image, bytes, sizeof(bytes), &reason) == 0) {
                        n_read++;
                        check_consistent(&image);
                        begin_at(&image, g_rand_int_range(rand, 0, N_IMAGE));
                } else {
                        ck_assert_ptr_nonnull(reason);
                }
                r2r_image_deinit(&image);
        }
        ck_assert_uint_gt(n_read, 1000);
        ck_assert_uint_lt(n_read, 19000);
        g_rand_free(rand);
}
END_TEST

#define CLAUSES (DATA + 0x40)

/* Changes in a table of two methods, of which the first has a filter and a handler. */
static const struct {
        size_t at;
        uint32_t value;
        bool is_refused;
} FUNCLETS[] = {
        {DATA + 24, 0, false},
        {R2R + 24, 23, true},
        {R2R + 24, 0x01000008, true},
        {R2R + 20, 0x100, true},
        {R2R + 20, UINT32_MAX - 8, true},
        {DATA + 4, DATA_RVA + 0x41, true},
        {DATA + 4, DATA_RVA + 0x100, true}, /* after the end */
        {DATA + 4, 0, true},
        {DATA + 12, DATA_RVA, true}, /* before the first row */
        {DATA + 12, DATA_RVA + 0x41, true},
        {DATA + 20, DATA_RVA + 0x40, true},
        {DATA + 20, DATA_RVA + N_DATA + 24, true},
        {DATA + 20, UINT32_MAX, true},
};

START_TEST(test_funclets)
{
        const uint32_t table[] = {RVA(CODE),        DATA_RVA + 0x40,
                                  RVA(CODE + 0x90), DATA_RVA + 0x40 + 24,
                                  UINT32_MAX,       DATA_RVA + 0x40 + 48};
        const uint32_t clauses[] = {1, 0, 4, 0x20, 0x30, 0x10, 0, 0, 4, 8, 12, 0x02000001};
        uint8_t bytes[N_IMAGE];
        const char *reason;
        R2RFunclets funclets;
        R2RImage image;
        int fd;

        image_build(bytes);
        image_put32(bytes, R2R + 16, 104);
        image_put32(bytes, R2R + 20, DATA_RVA);
        image_put32(bytes, R2R + 24, sizeof(table));
        memcpy(bytes + DATA, table, sizeof(table));
        memcpy(bytes + CLAUSES, clauses, sizeof(clauses));
        image_put32(bytes, FUNCLETS[_i].at, FUNCLETS[_i].value);
        fd = file_of(bytes, sizeof(bytes));
        ck_assert_int_eq(r2r_image_read(&image, &(ImageBytes){.fd = fd}, &reason), 0);
        ck_assert_int_eq(r2r_image_read_funclets(&image, &(ImageBytes){.fd = fd}, &funclets),
                         FUNCLETS[_i].is_refused ? -EBADMSG : 0);
        ck_assert_uint_eq(funclets.n, FUNCLETS[_i].is_refused ? 0 : 3);
        ck_assert_int_eq(r2r_funclets_have(&funclets, RVA(CODE + 0x10)), !FUNCLETS[_i].is_refused);
        ck_assert_int_eq(r2r_funclets_have(&funclets, RVA(CODE + 0x20)), !FUNCLETS[_i].is_refused);
        ck_assert_int_eq(r2r_funclets_have(&funclets, RVA(CODE + 0x98)), !FUNCLETS[_i].is_refused);
        ck_assert(!r2r_funclets_have(&funclets, RVA(CODE)));
        r2r_funclets_deinit(&funclets);
        r2r_image_deinit(&image);
        close(fd);
}
END_TEST

/* Returns the runtime's library beside the dotnet on PATH; NULL: no library. */
static char *find_corelib(void)
{
        g_autofree char *program = g_find_program_in_path("dotnet");
        char *target = program ? realpath(program, NULL) : NULL;
        g_autofree char *root = target ? g_path_get_dirname(target) : NULL;
        g_autofree char *shared =
                root ? g_build_filename(root, "shared", "Microsoft.NETCore.App", NULL) : NULL;
        g_autoptr(GDir) directory = shared ? g_dir_open(shared, 0, NULL) : NULL;
        const char *version = directory ? g_dir_read_name(directory) : NULL;

        free(target);
        return version ? g_build_filename(shared, version, "System.Private.CoreLib.dll", NULL)
                       : NULL;
}

static uint32_t get32(const char *bytes, size_t at)
{
        uint32_t value;

        memcpy(&value, bytes + at, sizeof(value));
        return value;
}

/* Returns the file offset of RVA, from the section that contains it, data or code. */
static size_t offset_of(const char *bytes, uint32_t rva)
{
        size_t header = get32(bytes, 60) + 24 + N_OPTIONAL, i;

        for (i = 0; i < 8; i++, header += 40)
                if (rva >= get32(bytes, header + 12) &&
                    rva - get32(bytes, header + 12) < get32(bytes, header + 8))
                        return get32(bytes, header + 20) + (rva - get32(bytes, header + 12));
        ck_abort_msg("in no section");
        return 0;
}

/* Checks that the PE file's exception directory, which is located separately, has the same
 * functions. */
static void check_exception_directory(const R2RImage *image, const char *bytes)
{
        size_t directory = get32(bytes, 60) + 24 + 112 + 3 * 8, i;
        size_t at = offset_of(bytes, get32(bytes, directory));

        ck_assert_uint_eq(image->functions.n, get32(bytes, directory + 4) / 12);
        for (i = 0; i < image->functions.n; i++, at += 12) {
                ck_assert_uint_eq(image->functions.rows[i].begin, get32(bytes, at));
                ck_assert_uint_eq(image->functions.rows[i].end, get32(bytes, at + 4));
        }
}

/* Checks that each funclet begins with a function, and is not the first function of its method. */
static void check_funclets(const R2RImage *image, const void *bytes, size_t n)
{
        int fd = file_of(bytes, n);
        R2RFunclets funclets;
        size_t i;

        ck_assert_int_eq(r2r_image_read_funclets(image, &(ImageBytes){.fd = fd}, &funclets), 0);
        ck_assert_uint_gt(funclets.n, 1000);
        for (i = 0; i < funclets.n; i++) {
                const uint32_t rva = funclets.begins[i];
                const uint32_t number = r2r_functions_last(&image->functions, rva);

                ck_assert_uint_gt(number, 1);
                ck_assert_uint_eq(image->functions.rows[number - 1].begin, rva);
        }
        r2r_funclets_deinit(&funclets);
        close(fd);
}

START_TEST(test_corelib)
{
        g_autofree char *path = find_corelib();
        g_autofree char *bytes = NULL;
        const PeSection *section;
        const char *reason = NULL;
        R2RImage image;
        gsize n, i;

        if (!path || !g_file_get_contents(path, &bytes, &n, NULL)) {
                ck_assert_msg(!g_getenv("CI"), "no dotnet on PATH");
                return;
        }
        /* Images for another machine are unreadable. */
        if (read_bytes(&image, bytes, n, &reason) < 0) {
                ck_assert_str_eq(reason, OTHER);
                return;
        }
        section = &image.sections[0];
        ck_assert_uint_gt(image.functions.n, 10000);
        ck_assert_uint_eq(image.n_sections, 1);
        check_consistent(&image);
        for (i = 0; i < image.functions.n; i++) {
                uint64_t begin = section->offset + (image.functions.rows[i].begin - section->rva);
                uint64_t end = section->offset + (image.functions.rows[i].end - section->rva);

                ck_assert_int_eq(begin_at(&image, begin), (int64_t)begin);
                ck_assert_int_eq(begin_at(&image, end - 1), (int64_t)begin);
                ck_assert_int_ne(begin_at(&image, end), (int64_t)begin);
        }
        check_exception_directory(&image, bytes);
        check_funclets(&image, bytes, n);
        r2r_image_deinit(&image);
        for (i = 1; i < 12; i++)
                ck_assert_int_eq(read_bytes(&image, bytes, n * i / 16, &reason), -EBADMSG);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("r2r-image");
        TCase *tests = tcase_create("images");

        tcase_set_timeout(tests, 60);
        tcase_add_test(tests, test_good);
        tcase_add_loop_test(tests, test_lie, 0, G_N_ELEMENTS(LIES));
        tcase_add_test(tests, test_data_is_no_code);
        tcase_add_loop_test(tests, test_arm64, 0, G_N_ELEMENTS(ARM64));
        tcase_add_test(tests, test_truncated);
        tcase_add_test(tests, test_no_file);
        tcase_add_test(tests, test_any_bytes);
        tcase_add_loop_test(tests, test_funclets, 0, G_N_ELEMENTS(FUNCLETS));
        tcase_add_test(tests, test_corelib);
        suite_add_tcase(suite, tests);
        return suite;
}
