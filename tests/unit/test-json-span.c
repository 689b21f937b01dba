/* SPDX-License-Identifier: MIT */

/*
 * Parts of JSON texts: members in any order, missing ones, nested ones, and texts that are cut
 */

#include "cli/json-span.h"

#include "support/suite.h"

#include <glib.h>
#include <string.h>

/* The members "a" and "b"; NULL: it is not there. */
static const struct {
        const char *text, *a, *b;
} OBJECTS[] = {
        {"{\"a\":1,\"b\":[2,{\"a\":3}]}", "1", "[2,{\"a\":3}]"},
        {"{ \"b\" : null , \"c\":\"a\\\"b\" , \"a\" : {\"b\":5} }", "{\"b\":5}", "null"},
        {"{\"aa\":1,\"\":2,\"B\":3}", NULL, NULL},
        {"{\"x\":{\"a\":1},\"b\":\"}\"}", NULL, "\"}\""},
        {"{}", NULL, NULL},
        {"[\"a\",1]", NULL, NULL},
        {"{\"a\":1,\"b\"", "1", NULL},
        {"{\"a\"", NULL, NULL},
        {"null", NULL, NULL},
        {"", NULL, NULL},
};

static void check_value(JsonSpan value, const char *expected)
{
        ck_assert_uint_eq(value.n, expected ? strlen(expected) : 0);
        ck_assert(!expected || !memcmp(value.at, expected, value.n));
}

START_TEST(test_members)
{
        static const char *const NAMES[] = {"a", "b"};
        const char *text = OBJECTS[_i].text;
        const JsonSpan object = {text, strlen(text)};
        JsonSpan values[2], value;

        json_span_members(object, NAMES, 2, values);
        check_value(values[0], OBJECTS[_i].a);
        check_value(values[1], OBJECTS[_i].b);
        /* One by one the same are found. */
        ck_assert_int_eq(json_span_member(object, "a", &value), OBJECTS[_i].a != NULL);
        ck_assert_int_eq(json_span_member(object, "b", &value), OBJECTS[_i].b != NULL);
        ck_assert_int_eq(json_span_array(object, "a", &value), OBJECTS[_i].a != NULL);
}
END_TEST

/* The member "a" of OBJECT, and its elements with a space after each. */
static const struct {
        const char *object, *elements;
} ARRAYS[] = {
        {"{\"b\":[7],\"a\":[1,[2,3],{\"c\":[4]},\"]\"],\"c\":[5]}", "1 [2,3] {\"c\":[4]} \"]\" "},
        {"{ \"a\" : [ 1 , null ] }", "1 null "},
        {"{\"a\":[],\"b\":[1]}", ""},
        {"{\"a\":[\"\\\"\",\"\\\\\",\"\\\\\\\",\",\"\"]}", "\"\\\"\" \"\\\\\" \"\\\\\\\",\" \"\" "},
        {"{\"a\":3}", ""},
        {"{\"a\":[1,\"2", "1 \"2 "},
        {"{\"a\":[1,\"2\\\"", "1 \"2\\\" "},
};

START_TEST(test_elements)
{
        const JsonSpan object = {ARRAYS[_i].object, strlen(ARRAYS[_i].object)};
        g_autoptr(GString) elements = g_string_new(NULL);
        JsonSpan array, element;
        size_t position = 0;

        ck_assert(json_span_array(object, "a", &array));
        while (json_span_next(array, &position, &element)) {
                g_string_append_len(elements, element.at, (gssize)element.n);
                g_string_append_c(elements, ' ');
        }
        ck_assert_str_eq(elements->str, ARRAYS[_i].elements);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("json-span");
        TCase *tcase = tcase_create("json-span");

        tcase_add_loop_test(tcase, test_members, 0, G_N_ELEMENTS(OBJECTS));
        tcase_add_loop_test(tcase, test_elements, 0, G_N_ELEMENTS(ARRAYS));
        suite_add_tcase(suite, tcase);
        return suite;
}
