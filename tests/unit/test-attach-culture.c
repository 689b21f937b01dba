/* SPDX-License-Identifier: MIT */
#include "attach/culture.h"
#include "support/suite.h"

#include <string.h>

#define CONFIG(settings) "{\"runtimeOptions\":{\"configProperties\":{" settings "}}}"

#define INVARIANT "\"System.Globalization.Invariant\":"
#define SOURCES   "\"System.Diagnostics.Tracing.EventSource.IsSupported\":"

/* Settings of a program: only settings that are known for certain permit a session. */
START_TEST(test_config)
{
        static const struct {
                const char *text;
                bool is_safe, is_safe_if_never_invariant;
        } ROWS[] = {
                {CONFIG(INVARIANT "true"), true, false},
                {CONFIG(INVARIANT "\"True\""), true, false},
                {"\xef\xbb\xbf" CONFIG(INVARIANT "true"), true, false},
                {CONFIG(INVARIANT "true") "next file of a bundle", true, false},
                {CONFIG(SOURCES "false"), true, true},
                {CONFIG(SOURCES "\"false\""), true, true},
                {CONFIG(INVARIANT "false"), false, false},
                {CONFIG(INVARIANT "1"), false, false},
                {CONFIG(INVARIANT "null"), false, false},
                {CONFIG(SOURCES "true"), false, false},
                {CONFIG("\"System.Globalization.invariant\":true"), false, false},
                {"{\"configProperties\":{" INVARIANT "true}}", false, false},
                {"{\"runtimeOptions\":[" INVARIANT "true]}", false, false},
                {"{\"runtimeOptions\":{\"configProperties\":{" INVARIANT "true", false, false},
                {"[[[[", false, false},
                {"", false, false},
        };
        const char *text = ROWS[_i].text;

        ck_assert_int_eq(culture_config_is_safe(text, strlen(text), false), ROWS[_i].is_safe);
        ck_assert_int_eq(culture_config_is_safe(text, strlen(text), true),
                         ROWS[_i].is_safe_if_never_invariant);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("attach-culture");
        TCase *tcase = tcase_create("attach-culture");

        tcase_add_loop_test(tcase, test_config, 0, 16);
        suite_add_tcase(suite, tcase);
        return suite;
}
