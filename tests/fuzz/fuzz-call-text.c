/* SPDX-License-Identifier: MIT */

/*
 * The text of a call, parsed in pieces: the pieces are valid if and only if the whole is valid
 * JSON, and have the same values.
 */

#include "fuzz.h"
#include "query/call-text.h"
#include "query/parameters.h"
#include "query/question-text.h"
#include "util/time-text.h"

#include <glib.h>

/* One of the texts exceeded the limit of a piece. */
static bool is_any_large;

static json_t *parse_piece(const char *text, size_t n)
{
        bool is_large;
        json_t *value = call_text_parse(text, n, &is_large);

        is_any_large |= is_large;
        return value;
}

/* The fast parser of queries gives the same query as a JSON parser. */
static void check_question(const char *text, size_t n, const json_t *element)
{
        const char *address, *time;
        Question question;
        uint64_t u;

        if (!question_from_text(text, n, &question) || is_any_large)
                return;
        FUZZ_REQUIRE(json_is_object(element));
        address = json_string_value(json_object_get(element, "addr"));
        FUZZ_REQUIRE(question.pid == json_integer_value(json_object_get(element, "pid")));
        FUZZ_REQUIRE(address && param_address(address, &u) && u == question.address);
        FUZZ_REQUIRE(question.has_pid_ns == (json_object_get(element, "pid_ns") != NULL));
        if (question.has_pid_ns)
                FUZZ_REQUIRE(question.pid_ns ==
                             (uint64_t)json_integer_value(json_object_get(element, "pid_ns")));
        FUZZ_REQUIRE(question.has_time == (json_object_get(element, "time") != NULL));
        time = json_string_value(json_object_get(element, "time"));
        u = (uint64_t)json_integer_value(json_object_get(element, "time"));
        if (time)
                FUZZ_REQUIRE(!time_from_text(time, &(TimeContext){0}, &u));
        FUZZ_REQUIRE(!question.has_time || u == question.time);
        FUZZ_REQUIRE(json_object_size(element) == 2u + question.has_pid_ns + question.has_time);
}

/* NULL: an element is not JSON. */
static json_t *parse_elements(const char *text, size_t n)
{
        size_t n_elements = call_text_count_elements(text, n), at = 0, i;
        json_auto_t *array = json_array();

        for (i = 0; i < n_elements; i++) {
                size_t n_element = call_text_element_end(text + at, n - at);
                json_t *element = parse_piece(text + at, n_element);

                FUZZ_REQUIRE(i + 1 < n_elements ? text[at + n_element] == ','
                                                : at + n_element == n);
                check_question(text + at, n_element, element);
                if (!element)
                        return NULL;
                json_array_append_new(array, element);
                at += n_element + 1;
        }
        return g_steal_pointer(&array);
}

static json_t *parse_call(const char *text, size_t n)
{
        size_t begin, end;
        g_autoptr(GString) rest = NULL;
        json_auto_t *root = NULL, *queries = NULL;

        if (!call_text_find_queries(text, n, &begin, &end))
                return parse_piece(text, n);
        FUZZ_REQUIRE(begin > 0 && begin <= end && end < n);
        FUZZ_REQUIRE(text[begin - 1] == '[' && text[end] == ']');
        rest = g_string_new_len(text, (gssize)begin);
        g_string_append_len(rest, text + end, (gssize)(n - end));
        root = parse_piece(rest->str, rest->len);
        queries = root ? parse_elements(text + begin, end - begin) : NULL;
        if (!queries)
                return NULL;
        FUZZ_REQUIRE(
                json_is_array(json_object_get(json_object_get(root, "parameters"), "queries")));
        json_object_set(json_object_get(root, "parameters"), "queries", queries);
        return g_steal_pointer(&root);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *text = (const char *)data;
        json_auto_t *whole = NULL, *parts = NULL;
        json_error_t error;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        is_any_large = false;
        whole = json_loadb(text, size, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
        parts = parse_call(text, size);
        /* A piece is nested less deeply than the whole. */
        if (is_any_large || (!whole && json_error_code(&error) == json_error_stack_overflow))
                return 0;
        FUZZ_REQUIRE(whole ? json_equal(whole, parts) : !parts);
        return 0;
}
