/* SPDX-License-Identifier: MIT */

/*
 * Rows of the client library: their original JSON, their decoded form, and their JSON with other IL
 * offsets
 */

#include "clrsym/clrsym.h"

#include "support/fake-daemon.h"
#include "support/suite.h"

#include <errno.h>
#include <string.h>

#define BODY                                                                                       \
        "\"method\":{\"id\":\"0x7ff0\",\"namespace\":\"N.T\",\"name\":\"M\",\"signature\":null,"   \
        "\"token\":\"0x06000001\"},\"start\":\"0x1000\",\"size\":16,\"offset\":8,\"flags\":392,"   \
        "\"version\":{\"rejit_id\":3,\"il_version\":4,\"tier\":\"QuickJitted\"},\"module\":null,"  \
        "\"il_offset\":5,\"il_kind\":\"exact\",\"line_il_offset\":6,"                              \
        "\"inlined\":[{\"method\":\"a\",\"il_offset\":7},{\"method\":null,\"il_offset\":null}],"   \
        "\"jit_ms\":1.250,\"loaded\":null,\"unloaded\":null,\"source\":\"rundown\""
#define HEAD "{\"pid\":100,\"pid_ns\":5,\"addr\":\"0x1008\",\"time\":null,"
#define TAIL "\"confidence\":\"assumed\",\"horizon\":\"9.000000000\",\"epoch\":3}"

#define OK HEAD "\"status\":\"ok\"," BODY "," TAIL
#define UNLOADED                                                                                   \
        HEAD "\"status\":\"unloaded\",\"nearest\":{" BODY ",\"distance\":-0.000000250}," TAIL
#define AMBIGUOUS HEAD "\"status\":\"ambiguous\",\"candidates\":[{}],\"n_candidates\":20," TAIL
#define NO_PROCESS                                                                                 \
        "{\"pid\":1,\"pid_ns\":null,\"status\":\"no-process\",\"confidence\":null,"                \
        "\"horizon\":null,\"epoch\":null}"

static clrsym *open_fake(const FakeDaemon *fake)
{
        const clrsym_options options = {.socket = fake->path, .reconnect_ms = -1};
        clrsym *handle;

        ck_assert_int_eq(clrsym_open(&handle, &options, NULL), 0);
        return handle;
}

static void play_reply(FakeDaemon *fake)
{
        fake_accept(fake);
        fake_expect_call(fake, "Resolve\",\"parameters\":{\"x\":1},\"more\":true}");
        fake_reply(fake, fake->data);
}

/* Decodes REPLY with FN for each row. Returns the result of the iteration. */
static int rows_of(const char *reply, clrsym_row_fn fn, void *data, char **ret_message)
{
        g_autoptr(FakeDaemon) fake = fake_daemon_new(play_reply, reply);
        clrsym *handle = open_fake(fake);
        int r = clrsym_rows(handle, "Resolve", "{\"x\":1}", "answers", 0, fn, data);

        *ret_message = g_strdup(clrsym_message(handle));
        clrsym_close(handle);
        return r;
}

static int append_json(clrsym_row *row, void *data)
{
        GString *out = data;
        size_t n;
        const char *json = clrsym_row_json(row, &n);

        g_string_append_len(out, json, (gssize)n);
        g_string_append_c(out, '|');
        return out->len > 60 ? 9 : 0;
}

/* A reply, and the texts of its rows; NULL: the reply has no rows array. */
static const struct {
        const char *reply, *rows;
        int result;
} REPLIES[] = {
        {"{\"parameters\":{\"answers\":[ {\"a\":1.250} , [\"]\",2],3 ], \"x\":1}}",
         "{\"a\":1.250}|[\"]\",2]|3|", 0},
        {"{\"parameters\":{\"x\":{\"answers\":[1]},\"answers\":[]}}", "", 0},
        {"{\"parameters\":{\"answers\":[\"1234567890123456789012345678901234567890123456789\","
         "\"1234567890\",3,4]}}",
         "\"1234567890123456789012345678901234567890123456789\"|\"1234567890\"|", 9},
        {"{\"parameters\":{\"answers\":{}}}", "", -EBADMSG},
        {"{\"parameters\":{\"answer\":[1]}}", "", -EBADMSG},
};

START_TEST(test_json)
{
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *message = NULL;

        ck_assert_int_eq(rows_of(REPLIES[_i].reply, append_json, out, &message),
                         REPLIES[_i].result);
        ck_assert_str_eq(out->str, REPLIES[_i].rows);
        if (REPLIES[_i].result < 0)
                ck_assert_ptr_nonnull(strstr(message, "Resolve: \"answers\" makes no sense"));
}
END_TEST

static int check_answer(clrsym_row *row, void *data)
{
        unsigned *n = data;
        clrsym_answer answer;

        ck_assert_int_eq(clrsym_row_answer(row, &answer), 0);
        switch ((*n)++) {
        case 0:
                ck_assert_int_eq(answer.status, CLRSYM_OK);
                ck_assert_int_eq(answer.confidence, CLRSYM_ASSUMED);
                ck_assert(answer.has_process && answer.pid == 100 && answer.pid_ns == 5);
                ck_assert(answer.horizon == UINT64_C(9000000000) && answer.epoch == 3);
                ck_assert(answer.has_body && answer.offset == 8 && answer.body.start == 0x1000);
                ck_assert_str_eq(answer.body.name, "M");
                ck_assert_int_eq(answer.il_kind, CLRSYM_IL_EXACT);
                ck_assert(answer.il_offset == 5 && answer.line_il_offset == 6);
                ck_assert_uint_eq(answer.n_inlined, 2);
                ck_assert_str_eq(answer.inlined[0].method, "a");
                ck_assert_int_eq(answer.inlined[0].il_offset, 7);
                ck_assert(!answer.inlined[1].method && answer.inlined[1].il_offset == -1);
                /* A second call gives the same answer. */
                return clrsym_row_answer(row, &answer);
        case 1:
                ck_assert_int_eq(answer.status, CLRSYM_UNLOADED);
                ck_assert(answer.has_body && answer.distance == -250 && !answer.n_inlined);
                ck_assert_int_eq(answer.line_il_offset, -1);
                return 0;
        case 2:
                ck_assert_int_eq(answer.status, CLRSYM_AMBIGUOUS);
                ck_assert(!answer.has_body && answer.n_candidates == 20);
                return 0;
        default:
                ck_assert_int_eq(answer.status, CLRSYM_NO_PROCESS);
                ck_assert(!answer.has_process && !answer.has_body);
                return 0;
        }
}

START_TEST(test_answers)
{
        g_autofree char *message = NULL;
        unsigned n = 0;

        ck_assert_int_eq(rows_of("{\"parameters\":{\"answers\":[" OK "," UNLOADED "," AMBIGUOUS
                                 "," NO_PROCESS "]}}",
                                 check_answer, &n, &message),
                         0);
        ck_assert_uint_eq(n, 4);
}
END_TEST

/* A replaced TEXT of an answer: the error names the member WRONG; NULL: no error. */
static const struct {
        const char *answer, *text, *replacement, *wrong;
} CHANGES[] = {
        {OK, "\"status\":\"ok\"", "\"status\":\"fine\"", "status"},
        {OK, "\"status\":\"ok\",", "", "status"},
        {OK, "\"assumed\"", "\"sure\"", "confidence"},
        {OK, "\"pid\":100", "\"pid\":-1", "pid"},
        {OK, "\"horizon\":\"9.000000000\"", "\"horizon\":9", "horizon"},
        {OK, "\"epoch\":3", "\"epoch\":-3", "epoch"},
        {OK, "\"start\":\"0x1000\"", "\"start\":1", "start"},
        {OK, "\"offset\":8,", "\"offset\":16,", "offset"},
        {OK, "\"il_kind\":\"exact\"", "\"il_kind\":\"epilog\"", NULL},
        {OK, "\"il_kind\":\"exact\"", "\"il_kind\":\"any\"", "il_kind"},
        {OK, "\"il_offset\":5", "\"il_offset\":null", "il_offset"},
        {OK, "\"line_il_offset\":6", "\"line_il_offset\":2147483648", "line_il_offset"},
        {OK, "\"method\":\"a\"", "\"method\":5", "method"},
        {OK, "{\"method\":null", "5,{\"method\":null", "method"},
        {OK, "\"inlined\":[", "\"inlined\":null,\"x\":[", NULL},
        {UNLOADED, "-0.000000250", "1e30", "distance"},
        {UNLOADED, "-0.000000250", "\"now\"", "distance"},
        {UNLOADED, "\"nearest\":{", "\"nearest\":5,\"x\":{", "nearest"},
        {UNLOADED, "\"size\":16", "\"size\":-16", "size"},
        {AMBIGUOUS, "\"n_candidates\":20", "\"n_candidates\":\"20\"", "n_candidates"},
};

static int decode_answer(clrsym_row *row, void *data)
{
        return clrsym_row_answer(row, data);
}

START_TEST(test_bad_answer)
{
        g_autoptr(GString) reply = g_string_new(CHANGES[_i].answer);
        g_autofree char *message = NULL, *said = NULL;
        clrsym_answer answer;
        int r;

        ck_assert_int_eq(g_string_replace(reply, CHANGES[_i].text, CHANGES[_i].replacement, 1), 1);
        g_string_prepend(reply, "{\"parameters\":{\"answers\":[");
        g_string_append(reply, "]}}");
        r = rows_of(reply->str, decode_answer, &answer, &message);
        ck_assert_int_eq(r, CHANGES[_i].wrong ? -EBADMSG : 0);
        if (!CHANGES[_i].wrong)
                return;
        said = g_strdup_printf("do not match: Resolve: \"%s\"", CHANGES[_i].wrong);
        ck_assert_ptr_nonnull(strstr(message, said));
}
END_TEST

/* IL offsets, and the answer with these offsets. */
static const struct {
        clrsym_answer il;
        const char *json;
} ILS[] = {
        {{.il_kind = CLRSYM_IL_UNKNOWN, .il_offset = 1, .line_il_offset = 2}, NULL},
        {{.il_kind = CLRSYM_IL_EXACT, .il_offset = 123, .line_il_offset = 45},
         "{\"il_offset\":123,\"il_kind\":\"exact\",\"b\":[{\"il_offset\":5}],"
         "\"line_il_offset\":45}"},
        {{.il_kind = CLRSYM_IL_NO_MAPPING, .il_offset = 123, .line_il_offset = -1},
         "{\"il_offset\":null,\"il_kind\":\"no-mapping\",\"b\":[{\"il_offset\":5}],"
         "\"line_il_offset\":null}"},
};

#define IL_ROW                                                                                     \
        "{\"il_offset\":null,\"il_kind\":null,\"b\":[{\"il_offset\":5}],\"line_il_offset\":null}"

static int set_il_and_compare(clrsym_row *row, void *data)
{
        const unsigned i = *(const unsigned *)data;
        const char *expected = ILS[i].json ? ILS[i].json : IL_ROW, *json;
        size_t n;

        ck_assert_int_eq(clrsym_row_set_il(row, &ILS[i].il), 0);
        json = clrsym_row_json(row, &n);
        ck_assert_uint_eq(n, strlen(expected));
        ck_assert(!memcmp(json, expected, n));
        return 0;
}

START_TEST(test_il)
{
        g_autofree char *message = NULL;
        unsigned i = (unsigned)_i;

        ck_assert_int_eq(rows_of("{\"parameters\":{\"answers\":[" IL_ROW "]}}", set_il_and_compare,
                                 &i, &message),
                         0);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("client-rows");
        TCase *tcase = tcase_create("client-rows");

        tcase_add_loop_test(tcase, test_json, 0, G_N_ELEMENTS(REPLIES));
        tcase_add_test(tcase, test_answers);
        tcase_add_loop_test(tcase, test_bad_answer, 0, G_N_ELEMENTS(CHANGES));
        tcase_add_loop_test(tcase, test_il, 0, G_N_ELEMENTS(ILS));
        suite_add_tcase(suite, tcase);
        return suite;
}
