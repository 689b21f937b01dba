/* SPDX-License-Identifier: MIT */

/* A library that is loaded on demand: the first installed one that has all required symbols */

#include "util/library.h"

#include "support/suite.h"

#include <glib.h>
#include <zlib.h>

typedef struct Api {
        __typeof__(zlibVersion) *version;
        __typeof__(crc32) *crc32;
} Api;

static const LibrarySymbol SYMBOLS[] = {
        {"zlibVersion", offsetof(Api, version)},
        {"crc32", offsetof(Api, crc32)},
        {"no_such_function", offsetof(Api, crc32)},
};

static Library library_of(const char *first, const char *second, size_t n_symbols)
{
        return (Library){
                .names = {first, second},
                .symbols = SYMBOLS,
                .n_symbols = n_symbols,
                .name = "libz",
                .absent = "libz is not installed",
                .package = "zlib1g",
                .version = "2",
        };
}

START_TEST(test_there)
{
        Library library = library_of("libno-such-library.so.1", "libz.so.1", 2);
        Api api = {0}, other = {0};

        ck_assert_ptr_eq(library_load(&library, &api, NULL), &api);
        ck_assert_ptr_nonnull(library.handle);
        ck_assert_str_eq(api.version(), zlibVersion());
        ck_assert_uint_eq(api.crc32(0, (const uint8_t *)"123456789", 9), 0xcbf43926);
        /* A second call does not load the library again. */
        ck_assert_ptr_eq(library_load(&library, &other, NULL), &other);
        ck_assert_ptr_null(other.version);
}
END_TEST

START_TEST(test_not_there)
{
        Library library = library_of("libno-such-library.so.1", NULL, 2);
        g_autoptr(GError) error = NULL;
        Api api;

        ck_assert_ptr_null(library_load(&library, &api, &error));
        ck_assert_ptr_null(library.handle);
        ck_assert(g_str_has_prefix(error->message,
                                   "libz is not installed (libno-such-library.so.1: "));
        ck_assert(g_str_has_suffix(error->message, "): apt install zlib1g"));
}
END_TEST

START_TEST(test_function_not_there)
{
        Library library = library_of("libz.so.1", NULL, 3);
        g_autoptr(GError) error = NULL;
        Api api;

        ck_assert_ptr_null(library_load(&library, &api, &error));
        ck_assert_ptr_null(library.handle);
        ck_assert_str_eq(error->message, "libz has no no_such_function: 2 or newer is needed");
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("library");
        TCase *tests = tcase_create("load");

        tcase_add_test(tests, test_there);
        tcase_add_test(tests, test_not_there);
        tcase_add_test(tests, test_function_not_there);
        suite_add_tcase(suite, tests);
        return suite;
}
