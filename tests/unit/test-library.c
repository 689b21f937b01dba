/* SPDX-License-Identifier: MIT */

/*
 * A library that is loaded when it is needed: the first that is there, with all that is needed of
 * it
 */

#include "util/library.h"

#include "support/suite.h"

#include <dlfcn.h>
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

START_TEST(test_there)
{
        static const char *const NAMES[] = {"libno-such-library.so.1", "libz.so.1", NULL};
        const char *missing;
        Api api;

        ck_assert_ptr_nonnull(library_load(NAMES, SYMBOLS, 2, &api, &missing));
        ck_assert_ptr_null(missing);
        ck_assert_str_eq(api.version(), zlibVersion());
        ck_assert_uint_eq(api.crc32(0, (const uint8_t *)"123456789", 9), 0xcbf43926);
}
END_TEST

START_TEST(test_not_there)
{
        static const char *const NAMES[] = {"libno-such-library.so.1", NULL};
        const char *missing, *reason;
        Api api;

        ck_assert_ptr_null(library_load(NAMES, SYMBOLS, 2, &api, &missing));
        ck_assert_ptr_null(missing);
        reason = dlerror();
        ck_assert_ptr_nonnull(reason);
        ck_assert(g_str_has_prefix(reason, NAMES[0]));
}
END_TEST

START_TEST(test_function_not_there)
{
        static const char *const NAMES[] = {"libz.so.1", NULL};
        const char *missing;
        Api api;

        ck_assert_ptr_null(library_load(NAMES, SYMBOLS, 3, &api, &missing));
        ck_assert_str_eq(missing, "no_such_function");
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
