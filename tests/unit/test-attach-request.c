/* SPDX-License-Identifier: MIT */
#include "attach/request.h"

#include "support/suite.h"

#include <string.h>

START_TEST(test_good)
{
        static const Request REQUESTS[] = {{REQUEST_ATTACH, 1, false},
                                           {REQUEST_AGAIN, 4711, false},
                                           {REQUEST_AGAIN, 4711, true},
                                           {REQUEST_DETACH, G_MAXINT32, false},
                                           {REQUEST_LIST, 0, false}};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(REQUESTS); i++) {
                g_autofree char *line = request_format(&REQUESTS[i]);
                size_t n = strlen(line), cut;
                Request request;

                ck_assert_int_eq(line[n - 1], '\n');
                ck_assert_uint_le(n, REQUEST_MAX);
                ck_assert(request_parse(line, n - 1, &request));
                ck_assert_int_eq(request.verb, REQUESTS[i].verb);
                ck_assert_int_eq(request.pid, REQUESTS[i].pid);
                ck_assert_int_eq(request.is_held_only, REQUESTS[i].is_held_only);
                for (cut = 0; cut < n - 1; cut++)
                        ck_assert(!request_parse(line, cut, &request));
        }
}
END_TEST

START_TEST(test_bad)
{
        static const char *const REQUESTS[] = {
                "",
                "null",
                "[]",
                "{}",
                "{\"verb\":\"attach\"}",
                "{\"verb\":\"attach\",\"pid\":0}",
                "{\"verb\":\"attach\",\"pid\":-1}",
                "{\"verb\":\"attach\",\"pid\":2147483648}",
                "{\"verb\":\"attach\",\"pid\":18446744073709551617}",
                "{\"verb\":\"attach\",\"pid\":\"1\"}",
                "{\"verb\":\"attach\",\"pid\":1.5}",
                "{\"verb\":\"attach\",\"pid\":1} x",
                "{\"verb\":\"attach\",\"verb\":\"list\",\"pid\":1}",
                "{\"verb\":\"list\",\"pid\":1}",
                "{\"verb\":\"end\",\"pid\":1}",
                "{\"verb\":7,\"pid\":1}",
                "{\"verb\":\"attach\\u0000\",\"pid\":1}",
                "{\"pid\":1}",
                "{\"verb\":\"again\",\"pid\":1,\"held\":1}",
                "{\"verb\":\"attach\",\"pid\":1,\"held\":true}",
        };
        Request request;

        ck_assert_msg(!request_parse(REQUESTS[_i], strlen(REQUESTS[_i]), &request), "%s",
                      REQUESTS[_i]);
}
END_TEST

/* What a holder says that went wrong is said on; what no holder says is an error, too. */
START_TEST(test_errors)
{
        json_t *refusal = request_error(ATTACH_ERROR_NO_PORT, "no port"), *other = json_array();
        json_t *odd = json_pack("{s:{s:s}}", "error", "kind", "new"), *good = json_object();
        g_autoptr(GError) error = NULL;

        ck_assert(!request_check(refusal, &error));
        ck_assert(g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_NO_PORT));
        ck_assert_str_eq(error->message, "no port");
        g_clear_error(&error);
        ck_assert(!request_check(odd, &error));
        ck_assert(g_error_matches(error, ATTACH_ERROR, ATTACH_ERROR_FAILED));
        g_clear_error(&error);
        ck_assert(!request_check(other, &error));
        ck_assert_ptr_nonnull(strstr(error->message, "no clrsym-holder"));
        g_clear_error(&error);
        ck_assert(!request_check(NULL, &error));
        g_clear_error(&error);
        ck_assert(request_check(good, &error));
        json_decref(refusal);
        json_decref(other);
        json_decref(odd);
        json_decref(good);
}
END_TEST

/* A time that is not known is null; the state is the one that matters. */
START_TEST(test_attachment)
{
        static const struct {
                bool is_listed, is_waiting;
                const char *message, *state;
        } ROWS[] = {
                {false, false, NULL, "attaching"},
                {false, false, "it died", "failed"},
                {true, false, "once", "attached"},
                {true, true, NULL, "waiting"},
        };
        char version[] = "10.0.12", message[32];
        AttachmentInfo info = {.pid = 7,
                               .vpid = 1,
                               .pid_ns = 4026532179,
                               .version = version,
                               .is_listed = ROWS[_i].is_listed,
                               .is_waiting = ROWS[_i].is_waiting,
                               .held = 5000000001,
                               .message = ROWS[_i].message ? message : NULL};
        json_t *row;

        if (ROWS[_i].message)
                g_strlcpy(message, ROWS[_i].message, sizeof(message));
        row = request_attachment(&info, true);
        ck_assert_str_eq(json_string_value(json_object_get(row, "state")), ROWS[_i].state);
        ck_assert_str_eq(json_string_value(json_object_get(row, "since")), "5.000000001");
        ck_assert_int_eq(json_integer_value(json_object_get(row, "pid_ns")), 4026532179);
        ck_assert(json_is_true(json_object_get(row, "new")));
        ck_assert(json_is_null(json_object_get(row, "lost_since")));
        ck_assert(json_is_null(json_object_get(json_object_get(row, "rundown"), "end")));
        json_decref(row);
}
END_TEST

/* What a holder answers to one who only wants everything listed again; and what none does. */
START_TEST(test_outcomes)
{
        static const struct {
                const char *answer;
                RequestOutcome outcome;
        } ROWS[] = {
                {"{\"pid\":7,\"state\":\"attached\"}", REQUEST_LISTED},
                {"{\"error\":{\"kind\":\"not-attached\",\"message\":\"m\"}}", REQUEST_NOT_HELD},
                {"{\"error\":{\"kind\":\"no-process\",\"message\":\"m\"}}", REQUEST_NOT_HELD},
                {"{\"error\":{\"kind\":\"ended\",\"message\":\"m\"}}", REQUEST_NOT_HELD},
                {"{\"error\":{\"kind\":\"not-allowed\",\"message\":\"m\"}}", REQUEST_FAILED},
                {"{\"error\":{\"kind\":\"new\",\"message\":\"m\"}}", REQUEST_FAILED},
                {"{\"error\":{\"kind\":\"ended\"}}", REQUEST_NONSENSE},
                {"{\"pid\":7,\"error\":null}", REQUEST_NONSENSE},
                {"{\"pid\":\"7\"}", REQUEST_NONSENSE},
                {"{}", REQUEST_NONSENSE},
                {"[]", REQUEST_NONSENSE},
                {"", REQUEST_NONSENSE},
                {"\xff\xfe", REQUEST_NONSENSE},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                g_autofree char *message = NULL;

                ck_assert_msg(request_outcome(ROWS[i].answer, strlen(ROWS[i].answer), &message) ==
                                      ROWS[i].outcome,
                              "%s", ROWS[i].answer);
                ck_assert_pstr_eq(message, ROWS[i].outcome == REQUEST_FAILED ? "m" : NULL);
        }
}
END_TEST

START_TEST(test_file_names)
{
        static const char *const BAD[] = {"control", "",    "1",    "1-",
                                          "-1-2",    "0-2", "1-2 ", "1-2.AB12CD"};
        uint64_t ticks;
        pid_t pid;
        size_t i;

        ck_assert(attachment_parse_name("4711-1416360", &pid, &ticks));
        ck_assert_int_eq(pid, 4711);
        ck_assert_uint_eq(ticks, 1416360);
        for (i = 0; i < G_N_ELEMENTS(BAD); i++)
                ck_assert_msg(!attachment_parse_name(BAD[i], &pid, &ticks), "%s", BAD[i]);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("attach-request");
        TCase *tcase = tcase_create("attach-request");

        tcase_add_test(tcase, test_good);
        tcase_add_loop_test(tcase, test_bad, 0, 20);
        tcase_add_test(tcase, test_errors);
        tcase_add_loop_test(tcase, test_attachment, 0, 4);
        tcase_add_test(tcase, test_outcomes);
        tcase_add_test(tcase, test_file_names);
        suite_add_tcase(suite, tcase);
        return suite;
}
