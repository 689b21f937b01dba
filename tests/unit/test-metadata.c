/* SPDX-License-Identifier: MIT */

/*
 * Metadata: the coding of numbers; wrong sizes; and, if a runtime is installed, its own library and
 * the assemblies beside it
 */

#include "metadata/metadata-names.h"
#include "metadata/pe-file.h"

#include "support/suite.h"

#include <fcntl.h>
#include <glib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The examples of the standard (II.23.2). */
static const struct {
        uint8_t bytes[4];
        size_t n;
        uint32_t u;
        int32_t s;
} NUMBERS[] = {
        {{0x03}, 1, 0x03, -0x3f},
        {{0x7f}, 1, 0x7f, -1},
        {{0x06}, 1, 6, 3},
        {{0x7b}, 1, 0x7b, -3},
        {{0x80, 0x80}, 2, 0x80, 64},
        {{0x01}, 1, 1, -64},
        {{0xae, 0x57}, 2, 0x2e57, -2261},
        {{0xbf, 0xff}, 2, 0x3fff, -1},
        {{0x80, 0x01}, 2, 1, -8192},
        {{0xc0, 0x00, 0x40, 0x00}, 4, 0x4000, 8192},
        {{0xdf, 0xff, 0xff, 0xff}, 4, 0x1fffffff, -1},
        {{0xdf, 0xff, 0xff, 0xfe}, 4, 0x1ffffffe, 268435455},
        {{0xc0, 0x00, 0x00, 0x01}, 4, 1, -268435456},
};

START_TEST(test_numbers)
{
        ByteCursor cursor = {.at = NUMBERS[_i].bytes, .n = NUMBERS[_i].n};

        ck_assert_uint_eq(byte_cursor_unsigned(&cursor), NUMBERS[_i].u);
        ck_assert(!cursor.has_failed);
        ck_assert_uint_eq(cursor.n, 0);
        cursor = (ByteCursor){.at = NUMBERS[_i].bytes, .n = NUMBERS[_i].n};
        ck_assert_int_eq(byte_cursor_signed(&cursor), NUMBERS[_i].s);
        ck_assert(!cursor.has_failed);
        cursor = (ByteCursor){.at = NUMBERS[_i].bytes, .n = NUMBERS[_i].n - 1};
        byte_cursor_unsigned(&cursor);
        ck_assert(cursor.has_failed);
}
END_TEST

/* A root with only the stream #~, which has a table of 2 modules. */
#define TABLES  36
#define N_SMALL (TABLES + 48)
static const uint8_t SMALL[N_SMALL] = {'B', 'S', 'J', 'B', 1, 0, 1, 0, 0, 0, 0, 0, 4, 0, 0, 0, 'v',
                                       '4', '.', '0',
                                       /* flags, number of streams */
                                       0, 0, 1, 0,
                                       /* offset, size, name */
                                       TABLES, 0, 0, 0, N_SMALL - TABLES, 0, 0, 0, '#', '~', 0, 0,
                                       /* version, widths of the heaps */
                                       0, 0, 0, 0, 2, 0, 0, 1,
                                       /* bits of present tables, bits of sorted tables, rows */
                                       1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 0, 0,
                                       /* the rows */
                                       1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 0, 0};

START_TEST(test_small)
{
        static const struct {
                size_t at;
                uint8_t byte;
                const char *reason;
        } WRONG[] = {
                {0, 'C', "no metadata"},
                {12, 0xff, "contradicts"},
                {22, 65, "contradicts"},
                {22, 0, "no metadata"},
                {24, 0xff, "shorter"},
                {28, 0xff, "shorter"},
                {28, 0x2f, "shorter"},
                {33, '-', "edited"},
                {TABLES + 13, 0x80, "not known"},
                {TABLES + 24, 3, "shorter"},
                {TABLES + 27, 1, "contradicts"},
        };
        uint8_t bytes[N_SMALL];
        const char *reason;
        Metadata metadata;
        uint32_t value;
        size_t i;

        memcpy(bytes, SMALL, sizeof(bytes));
        ck_assert(metadata_read(&metadata, bytes, sizeof(bytes), &reason));
        ck_assert_uint_eq(metadata_n_rows(&metadata, METADATA_MODULE), 2);
        ck_assert(metadata_cell(&metadata, METADATA_MODULE, 2, 0, &value));
        ck_assert_uint_eq(value, 2);
        ck_assert(!metadata_cell(&metadata, METADATA_MODULE, 3, 0, &value));
        ck_assert(!metadata_cell(&metadata, METADATA_MODULE, 0, 0, &value));
        ck_assert(!metadata_cell(&metadata, METADATA_MODULE, 1, 5, &value));
        ck_assert_ptr_null(metadata_string(&metadata, 0));
        ck_assert_ptr_null(metadata_guid(&metadata, 1));
        for (i = 0; i < G_N_ELEMENTS(WRONG); i++) {
                memcpy(bytes, SMALL, sizeof(bytes));
                bytes[WRONG[i].at] = WRONG[i].byte;
                ck_assert_msg(!metadata_read(&metadata, bytes, sizeof(bytes), &reason), "%zu", i);
                ck_assert_msg(strstr(reason, WRONG[i].reason), "%zu: %s", i, reason);
        }
        for (i = 0; i < sizeof(bytes); i++) {
                memcpy(bytes, SMALL, sizeof(bytes));
                ck_assert(!metadata_read(&metadata, bytes, i, &reason));
        }
}
END_TEST

/* Returns the directory of an installed framework, or NULL. */
static char *framework_find(void)
{
        g_autofree char *shared = g_strdup("/usr/share/dotnet/shared/Microsoft.NETCore.App");
        g_autoptr(GDir) dir = g_dir_open(shared, 0, NULL);
        const char *name = dir ? g_dir_read_name(dir) : NULL;

        return name ? g_build_filename(shared, name, NULL) : NULL;
}

/* Reads each name of an assembly. Returns the number of methods. */
static uint32_t check_assembly(const Metadata *metadata, bool *ret_has_string_concat)
{
        uint32_t n = metadata_n_rows(metadata, METADATA_METHOD_DEF), rid, type, before = 1;
        char name[1024];

        for (rid = 1; rid <= metadata_n_rows(metadata, METADATA_TYPE_REF); rid++)
                ck_assert(metadata_type_name(metadata, METADATA_TYPE_REF, rid, name, sizeof(name)));
        for (rid = 1; rid <= n; rid++) {
                type = metadata_method_type(metadata, rid);
                ck_assert_uint_ge(type, before);
                before = type;
                ck_assert(
                        metadata_type_name(metadata, METADATA_TYPE_DEF, type, name, sizeof(name)));
                ck_assert_ptr_nonnull(metadata_method_name(metadata, rid));
                if (!strcmp(name, "System.String") &&
                    !strcmp(metadata_method_name(metadata, rid), "Concat"))
                        *ret_has_string_concat = true;
                if (!strcmp(name, "System.Collections.Generic.Dictionary`2+Enumerator")) {
                        ck_assert_uint_eq(
                                metadata_n_generic_params(metadata, METADATA_TYPE_DEF, type), 2);
                        ck_assert_str_eq(
                                metadata_generic_param(metadata, METADATA_TYPE_DEF, type, 1),
                                "TValue");
                }
        }
        return n;
}

START_TEST(test_framework)
{
        g_autofree char *path = framework_find();
        g_autoptr(GDir) dir = path ? g_dir_open(path, 0, NULL) : NULL;
        const char *name, *reason = "";
        bool has_string_concat = false;
        unsigned n_assemblies = 0;

        while (dir && (name = g_dir_read_name(dir))) {
                g_autofree char *file_path = g_build_filename(path, name, NULL);
                PeFile file;
                Metadata metadata;
                uint8_t *bytes;
                size_t n;
                int fd;

                if (!g_str_has_prefix(name, "System.") || !g_str_has_suffix(name, ".dll"))
                        continue;
                fd = open(file_path, O_RDONLY | O_CLOEXEC);
                ck_assert_int_ge(fd, 0);
                ck_assert_msg(pe_file_read(&file, fd, 0, &reason) == 0, "%s: %s", name, reason);
                ck_assert_msg(pe_file_read_metadata(&file, 64 << 20, &bytes, &n, &reason) == 0,
                              "%s: %s", name, reason);
                ck_assert_msg(metadata_read(&metadata, bytes, n, &reason), "%s: %s", name, reason);
                check_assembly(&metadata, &has_string_concat);
                free(bytes);
                close(fd);
                n_assemblies++;
        }
        ck_assert(!dir || (n_assemblies > 100 && has_string_concat));
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("metadata");
        TCase *tcase = tcase_create("metadata");

        tcase_set_timeout(tcase, 120);
        tcase_add_loop_test(tcase, test_numbers, 0, G_N_ELEMENTS(NUMBERS));
        tcase_add_test(tcase, test_small);
        tcase_add_test(tcase, test_framework);
        suite_add_tcase(suite, tcase);
        return suite;
}
