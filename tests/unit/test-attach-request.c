/* SPDX-License-Identifier: MIT */
#include "attach/attachment-file.h"
#include "attach/reply.h"

#include "support/suite.h"

#include <string.h>

START_TEST(test_good)
{
        static const Request REQUESTS[] = {
                {.verb = REQUEST_ATTACH, .pid = 1},
                {.verb = REQUEST_ATTACH, .pid = 1, .via = ATTACH_VIA_LTTNG},
                {.verb = REQUEST_ATTACH, .pid = 1, .via = ATTACH_VIA_EVENTPIPE, .has_lttng = true},
                {.verb = REQUEST_ATTACH, .pid = 1, .via = ATTACH_VIA_AUTO, .has_lttng = true},
                {.verb = REQUEST_ATTACH, .pid = 1, .list = ATTACH_LIST_NEVER},
                {.verb = REQUEST_RUNDOWN, .pid = 4711},
                {.verb = REQUEST_RUNDOWN, .pid = 4711, .list = ATTACH_LIST_ALWAYS},
                {.verb = REQUEST_RUNDOWN, .pid = 4711, .via = ATTACH_VIA_EVENTPIPE},
                {.verb = REQUEST_RUNDOWN, .pid = 4711, .is_held_only = true},
                {.verb = REQUEST_DETACH, .pid = G_MAXINT32},
                {.verb = REQUEST_ATTACH, .pid = 1, .ingest = "/run/\"clrsym\"/\\ \xc3\xa4/ingest"},
                {.verb = REQUEST_LIST},
                {.verb = REQUEST_LIMITS},
                {.verb = REQUEST_PORT},
                {.verb = REQUEST_FLUSH},
                {.verb = REQUEST_HORIZON},
                {.verb = REQUEST_HORIZON, .pid = 7},
                {.verb = REQUEST_HORIZON, .pid = 7, .pid_ns = 4026531836},
        };
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
                ck_assert_uint_eq(request.pid_ns, REQUESTS[i].pid_ns);
                ck_assert_int_eq(request.is_held_only, REQUESTS[i].is_held_only);
                ck_assert_int_eq(request.via, REQUESTS[i].via);
                ck_assert_int_eq(request.list, REQUESTS[i].list);
                ck_assert_int_eq(request.has_lttng, REQUESTS[i].has_lttng);
                ck_assert_str_eq(request.ingest, REQUESTS[i].ingest);
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
                "{\"verb\":\"port\",\"pid\":12}",
                "{\"verb\":\"attach\",\"pid\":0}",
                "{\"verb\":\"attach\",\"pid\":-1}",
                "{\"verb\":\"attach\",\"pid\":2147483648}",
                "{\"verb\":\"attach\",\"pid\":18446744073709551617}",
                "{\"verb\":\"attach\",\"pid\":\"1\"}",
                "{\"verb\":\"attach\",\"pid\":1.5}",
                "{\"verb\":\"attach\",\"pid\":1} x",
                "{\"verb\":\"attach\",\"verb\":\"list\",\"pid\":1}",
                "{\"verb\":\"list\",\"pid\":1}",
                "{\"verb\":\"horizon\",\"pid_ns\":1}",
                "{\"verb\":\"horizon\",\"pid\":1,\"pid_ns\":-1}",
                "{\"verb\":\"attach\",\"pid\":1,\"pid_ns\":1}",
                "{\"verb\":\"end\",\"pid\":1}",
                "{\"verb\":\"attach\",\"pid\":1,\"ingest\":1}",
                "{\"verb\":\"attach\",\"pid\":1,\"ingest\":\"ingest\"}",
                "{\"verb\":\"attach\",\"pid\":1,\"ingest\":\"/a\\u0000b\"}",
                "{\"verb\":\"attach\",\"pid\":1,\"ingest\":\"/0123456789012345678901234567890"
                "123456789012345678901234567890123456789012345678901234567890123456789012345678\"}",
                "{\"verb\":7,\"pid\":1}",
                "{\"verb\":\"attach\\u0000\",\"pid\":1}",
                "{\"pid\":1}",
                "{\"verb\":\"again\",\"pid\":1,\"held\":1}",
                "{\"verb\":\"attach\",\"pid\":1,\"held\":true}",
                "{\"verb\":\"attach\",\"pid\":1,\"via\":\"perf\"}",
                "{\"verb\":\"attach\",\"pid\":1,\"via\":1}",
                "{\"verb\":\"detach\",\"pid\":1,\"via\":\"lttng\"}",
                "{\"verb\":\"attach\",\"pid\":1,\"list\":\"often\"}",
                "{\"verb\":\"attach\",\"pid\":1,\"list\":true}",
                "{\"verb\":\"attach\",\"pid\":1,\"lttng\":1}",
                "{\"verb\":\"detach\",\"pid\":1,\"list\":\"never\"}",
        };
        Request request;

        ck_assert_msg(!request_parse(REQUESTS[_i], strlen(REQUESTS[_i]), &request), "%s",
                      REQUESTS[_i]);
}
END_TEST

static void expect_reply(const char *text, AttachError code, const char *part)
{
        g_autoptr(GError) error = NULL;
        json_auto_t *value = reply_read(text, strlen(text), &error);

        if (!part) {
                ck_assert_msg(value && !error, "%s", text);
                return;
        }
        ck_assert_ptr_null(value);
        ck_assert(g_error_matches(error, ATTACH_ERROR, (int)code));
        ck_assert_ptr_nonnull(strstr(error->message, part));
}

/* The client passes an error of the holder on; a reply that no holder sends is an error, too. */
START_TEST(test_errors)
{
        json_auto_t *refusal = reply_error(ATTACH_ERROR_NO_PORT, "no port");
        g_autofree char *text = json_dumps(refusal, JSON_COMPACT);

        expect_reply(text, ATTACH_ERROR_NO_PORT, "no port");
        expect_reply("{\"error\":{\"kind\":\"new\",\"message\":\"m\"}}", ATTACH_ERROR_FAILED, "m");
        expect_reply("{\"error\":{\"kind\":\"new\"}}", ATTACH_ERROR_FAILED, "is not clrsym-holder");
        expect_reply("[]", ATTACH_ERROR_FAILED, "is not clrsym-holder");
        expect_reply("", ATTACH_ERROR_FAILED, "is not clrsym-holder");
        expect_reply("{}", ATTACH_ERROR_FAILED, NULL);
}
END_TEST

/* An unknown time is null. */
START_TEST(test_attachment)
{
        static const struct {
                AttachmentState state;
                const char *message, *name;
        } ROWS[] = {
                {ATTACHMENT_STARTING, NULL, "attaching"},
                {ATTACHMENT_HELD, NULL, "attaching"},
                {ATTACHMENT_HELD, "it died", "failed"},
                {ATTACHMENT_BACKOFF, "it died", "failed"},
                {ATTACHMENT_COMPLETE, "once", "attached"},
                {ATTACHMENT_WAITING, NULL, "waiting"},
        };
        char version[] = "10.0.12", message[32];
        AttachmentInfo info = {.state = ROWS[_i].state,
                               .pid = 7,
                               .vpid = 1,
                               .pid_ns = 4026532179,
                               .version = version,
                               .held_since = 5000000001,
                               .message = ROWS[_i].message ? message : NULL};
        json_auto_t *row = NULL;

        if (ROWS[_i].message)
                g_strlcpy(message, ROWS[_i].message, sizeof(message));
        row = reply_attachment(&info, true);
        ck_assert_str_eq(json_string_value(json_object_get(row, "state")), ROWS[_i].name);
        ck_assert_str_eq(json_string_value(json_object_get(row, "since")), "5.000000001");
        ck_assert_int_eq(json_integer_value(json_object_get(row, "pid_ns")), 4026532179);
        ck_assert(json_is_true(json_object_get(row, "new")));
        ck_assert(json_is_null(json_object_get(row, "lost_since")));
        ck_assert(json_is_null(json_object_get(row, "unlisted")));
        ck_assert(json_is_null(json_object_get(json_object_get(row, "rundown"), "end")));
}
END_TEST

/* Replies to a rundown order, and texts that no holder sends. */
START_TEST(test_outcomes)
{
        static const struct {
                const char *answer;
                RequestOutcome outcome;
        } ROWS[] = {
                {"{\"pid\":7,\"state\":\"attached\"}", REQUEST_DONE},
                {"{\"error\":{\"kind\":\"not-attached\",\"message\":\"m\"}}", REQUEST_NOT_HELD},
                {"{\"error\":{\"kind\":\"no-process\",\"message\":\"m\"}}", REQUEST_NOT_HELD},
                {"{\"error\":{\"kind\":\"ended\",\"message\":\"m\"}}", REQUEST_NOT_HELD},
                {"{\"error\":{\"kind\":\"not-allowed\",\"message\":\"m\"}}", REQUEST_FAILED},
                {"{\"error\":{\"kind\":\"new\",\"message\":\"m\"}}", REQUEST_FAILED},
                {"{\"error\":{\"kind\":\"ended\"}}", REQUEST_INVALID},
                {"{\"pid\":7,\"error\":null}", REQUEST_INVALID},
                {"{\"pid\":\"7\"}", REQUEST_INVALID},
                {"{}", REQUEST_INVALID},
                {"[]", REQUEST_INVALID},
                {"", REQUEST_INVALID},
                {"\xff\xfe", REQUEST_INVALID},
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

        ck_assert(attachment_file_parse_name("4711-1416360", &pid, &ticks));
        ck_assert_int_eq(pid, 4711);
        ck_assert_uint_eq(ticks, 1416360);
        for (i = 0; i < G_N_ELEMENTS(BAD); i++)
                ck_assert_msg(!attachment_file_parse_name(BAD[i], &pid, &ticks), "%s", BAD[i]);
}
END_TEST

static void expect_file(const char *text, bool is_good, uint64_t via)
{
        AttachmentFile file;

        ck_assert_msg(attachment_file_parse(text, &file) == is_good, "%s", text);
        if (!is_good)
                return;
        ck_assert_uint_eq(file.session, 5);
        ck_assert_uint_eq(file.is_persistent, 1);
        ck_assert_uint_eq(file.held_since, 7);
        ck_assert_uint_eq(file.held_until, 8);
        ck_assert_uint_eq(file.worker, 9);
        ck_assert_uint_eq(file.worker_start, 10);
        ck_assert_uint_eq(file.vpid, 11);
        ck_assert_uint_eq(file.pid_ns, UINT64_MAX);
        ck_assert_uint_eq(file.via, via);
        ck_assert_uint_eq(file.list, via ? ATTACH_LIST_NEVER : ATTACH_LIST_AUTO);
        ck_assert_uint_eq(file.clock_offset, via ? 12 : 0);
}

/* Files of this version and of earlier versions are read. */
START_TEST(test_files)
{
        const AttachmentFile file = {
                5, 1, 7, 8, 9, 10, 11, UINT64_MAX, ATTACH_VIA_EVENTPIPE, ATTACH_LIST_NEVER, 12};
        g_autofree char *text = attachment_file_format(&file, "/run/a b\\=\n[x]/ingest");
        g_autofree char *ingest = attachment_file_ingest(text);

        expect_file(text, true, ATTACH_VIA_EVENTPIPE);
        ck_assert_str_eq(ingest, "/run/a b\\=\n[x]/ingest");
        ck_assert_ptr_null(attachment_file_ingest("5 1 7 8 9 10 11 18446744073709551615\n"));
        ck_assert_ptr_null(attachment_file_ingest("[attachment]\nsession=5\n"));
        expect_file("[attachment]\nsession=5\npersistent=1\nheld_since=7\nheld_until=8\nworker=9\n"
                    "worker_start=10\nvpid=11\npid_ns=18446744073709551615\n",
                    true, ATTACH_VIA_ANY);
        expect_file("[attachment]\nsession=5\npersistent=1\nheld_since=7\nheld_until=8\nworker=9\n"
                    "worker_start=10\nvpid=11\npid_ns=18446744073709551615\nvia=3\n",
                    false, ATTACH_VIA_ANY);
        expect_file("5 1 7 8 9 10 11 18446744073709551615\n", true, ATTACH_VIA_ANY);
        expect_file("5 1 7 8 9 10 11\n", false, ATTACH_VIA_ANY);
        expect_file("5 1 7 8 9 10 11 18446744073709551616\n", false, ATTACH_VIA_ANY);
        expect_file("5 1 7\n", false, ATTACH_VIA_ANY);
        expect_file("nonsense\n", false, ATTACH_VIA_ANY);
        expect_file("[attachment]\nsession=5\n", false, ATTACH_VIA_ANY);
        expect_file("", false, ATTACH_VIA_ANY);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("attach-request");
        TCase *tcase = tcase_create("attach-request");

        tcase_add_test(tcase, test_good);
        tcase_add_loop_test(tcase, test_bad, 0, 32);
        tcase_add_test(tcase, test_errors);
        tcase_add_loop_test(tcase, test_attachment, 0, 6);
        tcase_add_test(tcase, test_outcomes);
        tcase_add_test(tcase, test_file_names);
        tcase_add_test(tcase, test_files);
        suite_add_tcase(suite, tcase);
        return suite;
}
