/* SPDX-License-Identifier: MIT */

/* Parts of validated JSON texts: members in any order, missing members, and nested members */

#include "client/json-check.h"

#include "support/suite.h"

#include <glib.h>
#include <string.h>

/* The members "a" and "b"; NULL: missing. */
static const struct {
        const char *text, *a, *b;
} OBJECTS[] = {
        {"{\"a\":1,\"b\":[2,{\"a\":3}]}", "1", "[2,{\"a\":3}]"},
        {"{ \"b\" : null , \"c\":\"a\\\"b\" , \"a\" : {\"b\":5} }", "{\"b\":5}", "null"},
        {"{\"aa\":1,\"\":2,\"B\":3}", NULL, NULL},
        {"{\"x\":{\"a\":1},\"b\":\"}\"}", NULL, "\"}\""},
        {"{\"\\u0061\":1}", NULL, NULL},
        {"{}", NULL, NULL},
        {"[\"a\",1]", NULL, NULL},
        {"null", NULL, NULL},
};

static void check_member(const char *text, const char *name, const char *expected)
{
        const size_t n = strlen(text);
        size_t at = 0, end;

        ck_assert_int_eq(json_find_member(text, n, name, &at), expected != NULL);
        if (!expected)
                return;
        end = json_check_value(text, n, at, JSON_CHECK_MAX_DEPTH);
        ck_assert_uint_eq(end - at, strlen(expected));
        ck_assert(!memcmp(text + at, expected, end - at));
}

START_TEST(test_members)
{
        check_member(OBJECTS[_i].text, "a", OBJECTS[_i].a);
        check_member(OBJECTS[_i].text, "b", OBJECTS[_i].b);
}
END_TEST

/* Arrays in a text, and their elements with a space after each. */
static const struct {
        const char *text, *elements;
} ARRAYS[] = {
        {"[1,[2,3],{\"c\":[4]},\"]\"],\"c\":[5]", "1 [2,3] {\"c\":[4]} \"]\" "},
        {" [ 1 , null ] ", "1 null "},
        {"[]", ""},
        {"[\"\\\"\",\"\\\\\",\"\\\\\\\",\",\"\"]", "\"\\\"\" \"\\\\\" \"\\\\\\\",\" \"\" "},
        {"3", ""},
};

START_TEST(test_elements)
{
        const char *text = ARRAYS[_i].text;
        g_autoptr(GString) elements = g_string_new(NULL);
        size_t at = 0;

        while (json_next(text, &at)) {
                const size_t begin = at;

                at = json_check_value(text, strlen(text), begin, JSON_CHECK_MAX_DEPTH);
                g_string_append_len(elements, text + begin, (gssize)(at - begin));
                g_string_append_c(elements, ' ');
        }
        ck_assert_str_eq(elements->str, ARRAYS[_i].elements);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("json-parts");
        TCase *tcase = tcase_create("json-parts");

        tcase_add_loop_test(tcase, test_members, 0, G_N_ELEMENTS(OBJECTS));
        tcase_add_loop_test(tcase, test_elements, 0, G_N_ELEMENTS(ARRAYS));
        suite_add_tcase(suite, tcase);
        return suite;
}
