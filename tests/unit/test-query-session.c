/* SPDX-License-Identifier: MIT */

/*
 * A client's conversation: however its bytes are cut, it gets the same replies in the same order.
 */

#include "service/query-session.h"

#include "support/script.h"
#include "support/suite.h"

#include <string.h>

#define CALL(method, parameters)                                                                   \
        "{\"method\":\"org.clrsym.Symbolizer." method "\",\"parameters\":{" parameters "}}"
#define RESOLVE(address) CALL("Resolve", "\"queries\":[{\"pid\":100,\"addr\":\"" address "\"}]")
/* Asks for time 50, and up to WAIT ms for it. */
#define RESOLVE_WAIT(address, wait)                                                                \
        CALL("Resolve",                                                                            \
             "\"queries\":[{\"pid\":100,\"addr\":\"" address "\",\"time\":50}],\"wait_ms\":" wait)

static const char HISTORY[] = "10 RuntimeInformationStart\n"
                              "20 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
                              "progress 30\n";

static QuerySession *session_new(const Tracker *tracker)
{
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};

        return query_session_new(&context);
}

/* Runs it for as many turns as it takes. */
static int run(QuerySession *session, int64_t now_ms)
{
        int wait_ms;

        do
                wait_ms = query_session_run(session, now_ms);
        while (wait_ms == 0);
        return wait_ms;
}

/* Feeds TEXT and its NUL. */
static void say(QuerySession *session, const char *text)
{
        query_session_feed(session, (const uint8_t *)text, strlen(text) + 1);
}

/* Replies so far, each with what is between "status":" and the next quote, or its error's name. */
static char *replies(QuerySession *session)
{
        const GString *output = query_session_output(session);
        GString *text = g_string_new(NULL);
        size_t at;

        ck_assert(output->len == 0 || output->str[output->len - 1] == '\0');
        for (at = 0; at < output->len; at += strlen(output->str + at) + 1) {
                const char *reply = output->str + at;
                const char *begin = strstr(reply, "\"status\":\"");

                begin = begin ? begin + strlen("\"status\":\"") : strstr(reply, "\"error\":\"");
                if (begin && *begin == '"')
                        begin += strlen("\"error\":\"");
                if (text->len)
                        g_string_append_c(text, ' ');
                if (begin)
                        g_string_append_len(text, begin, (gssize)strcspn(begin, "\""));
                else
                        g_string_append(text, "other");
        }
        return g_string_free(text, FALSE);
}

static const struct {
        const char *bytes;
        size_t n;
        const char *replies;
} SCRIPTS[] = {
#define SCRIPT(text, replies)                                                                      \
        {                                                                                          \
                text, sizeof(text), replies                                                        \
        }
        SCRIPT(RESOLVE("0x1000"), "ok"),
        SCRIPT(RESOLVE("0x1000") "\0" RESOLVE("0x9") "\0" RESOLVE("0x100f"), "ok no-method ok"),
        SCRIPT("no json\0" RESOLVE("0x1000"), "org.clrsym.Symbolizer.InvalidCall ok"),
        SCRIPT("\0\0", "org.clrsym.Symbolizer.InvalidCall org.clrsym.Symbolizer.InvalidCall "
                       "org.clrsym.Symbolizer.InvalidCall"),
        SCRIPT("{\"method\":\"a.B\"}\0" CALL("Status", "") "\0" RESOLVE("0x1"),
               "org.varlink.service.MethodNotFound other no-method"),
        SCRIPT(RESOLVE("0x1000") "\0\xff\xfe", "ok org.clrsym.Symbolizer.InvalidCall"),
        SCRIPT(RESOLVE_WAIT("0x1000", "0") "\0" RESOLVE("0x1000"), "ok ok"),
};

START_TEST(test_every_cut)
{
        Tracker *tracker = script_tracker(HISTORY);
        const uint8_t *bytes = (const uint8_t *)SCRIPTS[_i].bytes;
        g_autofree char *first = NULL;
        size_t n = SCRIPTS[_i].n, n_first = 0, cut, at;

        for (cut = 0; cut <= n; cut++) {
                QuerySession *session = session_new(tracker);
                const GString *output = query_session_output(session);
                g_autofree char *got = NULL;

                for (at = 0; at < n;) {
                        size_t n_piece = at < cut ? cut - at : cut ? n - at : 1;

                        query_session_feed(session, bytes + at, n_piece);
                        ck_assert_int_eq(run(session, 0), -1);
                        at += n_piece;
                        ck_assert(query_session_is_partial(session) == (bytes[at - 1] != '\0'));
                }
                got = replies(session);
                ck_assert_str_eq(got, SCRIPTS[_i].replies);
                if (!first) {
                        n_first = output->len;
                        first = g_memdup2(output->str, n_first);
                }
                ck_assert_uint_eq(output->len, n_first);
                ck_assert_mem_eq(output->str, first, n_first);
                query_session_free(session);
        }
        tracker_free(tracker);
}
END_TEST

/* Ends a call's wait: the events have come, or the time is over. */
START_TEST(test_wait)
{
        Tracker *tracker = script_tracker(HISTORY);
        QuerySession *session = session_new(tracker);
        g_autofree char *before = NULL, *after = NULL;

        say(session, RESOLVE("0x1000"));
        say(session, RESOLVE_WAIT("0x1000", "1000"));
        say(session, RESOLVE("0x9"));
        ck_assert_int_eq(run(session, 5000), 1000);
        before = replies(session);
        ck_assert_str_eq(before, "ok"); /* what comes behind waits too */
        ck_assert(!query_session_is_partial(session));
        ck_assert_int_eq(run(session, 5400), 600);
        ck_assert_int_eq(run(session, 5999), 1);
        if (_i == 0) {
                ck_assert_int_eq(run(session, 6000), -1);
        } else {
                const GPtrArray *processes = tracker_processes(tracker);
                const Process *process = processes->pdata[0];
                const Trace *trace = process->traces->pdata[0];

                tracker_apply_progress(tracker, trace->streams->pdata[0], 60);
                ck_assert_int_eq(run(session, 5999), -1);
        }
        after = replies(session);
        ck_assert_str_eq(after, "ok ok no-method");
        /* Answered for lack of time, it says so. */
        ck_assert(!!strstr(query_session_output(session)->str +
                                   strlen(query_session_output(session)->str) + 1,
                           "provisional") == (_i == 0));
        query_session_free(session);
        tracker_free(tracker);
}
END_TEST

/* Each call has its own deadline, from when its turn came. */
START_TEST(test_wait_twice)
{
        Tracker *tracker = script_tracker(HISTORY);
        QuerySession *session = session_new(tracker);
        g_autofree char *got = NULL;

        say(session, RESOLVE_WAIT("0x1000", "100"));
        say(session, RESOLVE_WAIT("0x1000", "100"));
        ck_assert_int_eq(run(session, 1000), 100);
        ck_assert_int_eq(run(session, 1150), 100);
        ck_assert_int_eq(run(session, 1250), -1);
        got = replies(session);
        ck_assert_str_eq(got, "ok ok");
        query_session_free(session);
        tracker_free(tracker);
}
END_TEST

/* A call over the limit is refused, with or without its end; what came before is answered. */
START_TEST(test_oversize)
{
        Tracker *tracker = script_tracker(HISTORY);
        QuerySession *session = session_new(tracker);
        g_autofree char *call = g_strnfill(QUERY_MAX_CALL + 1, ' ');
        g_autofree char *got = NULL;

        say(session, RESOLVE("0x1000"));
        query_session_feed(session, (const uint8_t *)call, QUERY_MAX_CALL + 1 + (size_t)_i);
        ck_assert_int_eq(run(session, 0), -1);
        ck_assert(query_session_is_over(session) && !query_session_wants_input(session));
        say(session, RESOLVE("0x1000"));
        run(session, 0);
        got = replies(session);
        ck_assert_str_eq(got, "ok org.clrsym.Symbolizer.LimitExceeded");
        query_session_free(session);
        tracker_free(tracker);
}
END_TEST

START_TEST(test_largest)
{
        Tracker *tracker = script_tracker(HISTORY);
        QuerySession *session = session_new(tracker);
        g_autofree char *call = g_strnfill(QUERY_MAX_CALL, ' ');
        g_autofree char *got = NULL;

        memcpy(call, RESOLVE("0x1000"), strlen(RESOLVE("0x1000")));
        query_session_feed(session, (const uint8_t *)call, QUERY_MAX_CALL);
        run(session, 0);
        ck_assert(query_session_is_partial(session) && !query_session_is_over(session));
        ck_assert(query_session_wants_input(session));
        query_session_feed(session, (const uint8_t *)"", 1);
        run(session, 0);
        got = replies(session);
        ck_assert_str_eq(got, "ok");
        query_session_free(session);
        tracker_free(tracker);
}
END_TEST

/* A client that does not read is not read from, until it has. */
START_TEST(test_unread)
{
        Tracker *tracker = script_tracker(HISTORY);
        QuerySession *session = session_new(tracker);
        GString *output = query_session_output(session);
        size_t n_calls = 0, n_replies = 0, i;

        while (query_session_wants_input(session)) {
                say(session, RESOLVE("0x1000"));
                n_calls++;
                run(session, 0);
                ck_assert_uint_le(output->len, 2 * QUERY_MAX_OUTPUT);
        }
        ck_assert_uint_gt(output->len, QUERY_MAX_OUTPUT);
        /* What comes all the same is kept, and answered later. */
        say(session, RESOLVE("0x9"));
        n_calls++;
        run(session, 0);
        ck_assert(!query_session_is_over(session));
        for (i = 0; i < output->len; i++)
                n_replies += output->str[i] == '\0';
        ck_assert_uint_eq(n_replies, n_calls - 1);
        g_string_truncate(output, 0);
        run(session, 0);
        ck_assert_ptr_nonnull(strstr(output->str, "no-method"));
        ck_assert(query_session_wants_input(session));
        query_session_free(session);
        tracker_free(tracker);
}
END_TEST

/* Thousands of calls at once, each about all bodies there are: others have their turn. */
START_TEST(test_turns)
{
        g_autoptr(GString) script = g_string_new(NULL);
        Tracker *tracker;
        QuerySession *session;
        const GString *output;
        size_t n_replies = 0, n_calls, i;
        unsigned n_turns = 1;

        for (i = 1; i <= 20000; i++)
                g_string_append_printf(script,
                                       "%zu MethodLoadVerbose_V1 id=%zu start=%zu size=16\n", i, i,
                                       0x1000 * i);
        tracker = script_tracker(script->str);
        session = session_new(tracker);
        output = query_session_output(session);
        for (n_calls = 0; n_calls < 1000; n_calls++)
                say(session, CALL("Versions", "\"method\":\"0xffffffff\""));
        for (; query_session_run(session, 0) == 0; n_turns++)
                ck_assert(query_session_wants_input(session) && !query_session_is_partial(session));
        ck_assert_uint_gt(n_turns, 2);
        for (i = 0; i < output->len; i++)
                n_replies += output->str[i] == '\0';
        ck_assert_uint_eq(n_replies, n_calls);
        query_session_free(session);
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("query-session");
        TCase *tcase = tcase_create("query-session");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_oversize, 0, 2);
        tcase_add_test(tcase, test_unread);
        tcase_add_loop_test(tcase, test_every_cut, 0, G_N_ELEMENTS(SCRIPTS));
        tcase_add_loop_test(tcase, test_wait, 0, 2);
        tcase_add_test(tcase, test_wait_twice);
        tcase_add_test(tcase, test_largest);
        tcase_add_test(tcase, test_turns);
        suite_add_tcase(suite, tcase);
        return suite;
}
