/* SPDX-License-Identifier: MIT */

/* A client's connection: the replies and their order are the same wherever its bytes are cut. */

#include "query/query-connection.h"
#include "wire/bulk.h"

#include "support/script.h"
#include "support/suite.h"

#include <string.h>

#define CALL(method, parameters)                                                                   \
        "{\"method\":\"org.clrsym.Symbolizer." method "\",\"parameters\":{" parameters "}}"
#define RESOLVE(address) CALL("Resolve", "\"queries\":[{\"pid\":100,\"addr\":\"" address "\"}]")
/* Asks for time 50, and waits for it up to WAIT ms. */
#define RESOLVE_WAIT(address, wait)                                                                \
        CALL("Resolve",                                                                            \
             "\"queries\":[{\"pid\":100,\"addr\":\"" address "\",\"time\":50}],\"wait_ms\":" wait)

static const char HISTORY[] = "10 RuntimeInformationStart\n"
                              "20 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
                              "progress 30\n";

/* The clock of the code under test. Each read of the clock adds STEP us, so the number of reads
 * decides when turns end, on any machine. */
static gint64 clock_us, clock_step_us = 1;

gint64 g_get_monotonic_time(void)
{
        return clock_us += clock_step_us;
}

static QueryConnection *session_new(const Tracker *tracker)
{
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};

        return query_connection_new(&context);
}

/* Runs the connection until it has no more work. Returns the result of the last turn. */
static int run(QueryConnection *session, int64_t now_ms)
{
        int wait_ms;

        do
                wait_ms = query_connection_run(session, now_ms);
        while (wait_ms == 0);
        return wait_ms;
}

/* Feeds TEXT with its NUL. */
static void say(QueryConnection *session, const char *text)
{
        query_connection_feed(session, (const uint8_t *)text, strlen(text) + 1);
}

/* Returns the replies so far: of each, the text between "status":" and the next quote, or the name
 * of its error. */
static char *replies(QueryConnection *session)
{
        const GString *output = query_connection_output(session);
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
                QueryConnection *session = session_new(tracker);
                const GString *output = query_connection_output(session);
                g_autofree char *got = NULL;

                for (at = 0; at < n;) {
                        size_t n_piece = at < cut ? cut - at : cut ? n - at : 1;

                        query_connection_feed(session, bytes + at, n_piece);
                        ck_assert_int_eq(run(session, 0), -1);
                        at += n_piece;
                        ck_assert(query_connection_is_partial(session) == (bytes[at - 1] != '\0'));
                }
                got = replies(session);
                ck_assert_str_eq(got, SCRIPTS[_i].replies);
                if (!first) {
                        n_first = output->len;
                        first = g_memdup2(output->str, n_first);
                }
                ck_assert_uint_eq(output->len, n_first);
                ck_assert_mem_eq(output->str, first, n_first);
                query_connection_free(session);
        }
        tracker_free(tracker);
}
END_TEST

/* Ways in which the wait of a call ends: the events have arrived, or the time is over. */
START_TEST(test_wait)
{
        Tracker *tracker = script_tracker(HISTORY);
        QueryConnection *session = session_new(tracker);
        g_autofree char *before = NULL, *after = NULL;

        say(session, RESOLVE("0x1000"));
        say(session, RESOLVE_WAIT("0x1000", "1000"));
        say(session, RESOLVE("0x9"));
        ck_assert_int_eq(run(session, 5000), 1000);
        before = replies(session);
        ck_assert_str_eq(before, "ok"); /* the later calls wait, too */
        ck_assert(!query_connection_is_partial(session));
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
        /* After a timeout, the reply says so. */
        ck_assert(!!strstr(query_connection_output(session)->str +
                                   strlen(query_connection_output(session)->str) + 1,
                           "provisional") == (_i == 0));
        query_connection_free(session);
        tracker_free(tracker);
}
END_TEST

/* Each call has its own deadline, from the begin of its turn. */
START_TEST(test_wait_twice)
{
        Tracker *tracker = script_tracker(HISTORY);
        QueryConnection *session = session_new(tracker);
        g_autofree char *got = NULL;

        say(session, RESOLVE_WAIT("0x1000", "100"));
        say(session, RESOLVE_WAIT("0x1000", "100"));
        ck_assert_int_eq(run(session, 1000), 100);
        ck_assert_int_eq(run(session, 1150), 100);
        ck_assert_int_eq(run(session, 1250), -1);
        got = replies(session);
        ck_assert_str_eq(got, "ok ok");
        query_connection_free(session);
        tracker_free(tracker);
}
END_TEST

/* A call above the limit is refused, complete or incomplete; earlier calls are answered. */
START_TEST(test_oversize)
{
        Tracker *tracker = script_tracker(HISTORY);
        QueryConnection *session = session_new(tracker);
        g_autofree char *call = g_strnfill(QUERY_MAX_CALL + 1, ' ');
        g_autofree char *got = NULL;

        say(session, RESOLVE("0x1000"));
        query_connection_feed(session, (const uint8_t *)call, QUERY_MAX_CALL + 1 + (size_t)_i);
        ck_assert_int_eq(run(session, 0), -1);
        ck_assert(query_connection_is_over(session) && !query_connection_wants_input(session));
        say(session, RESOLVE("0x1000"));
        run(session, 0);
        got = replies(session);
        ck_assert_str_eq(got, "ok org.clrsym.Symbolizer.LimitExceeded");
        query_connection_free(session);
        tracker_free(tracker);
}
END_TEST

START_TEST(test_largest)
{
        Tracker *tracker = script_tracker(HISTORY);
        QueryConnection *session = session_new(tracker);
        g_autofree char *call = g_strnfill(QUERY_MAX_CALL, ' ');
        g_autofree char *got = NULL;

        memcpy(call, RESOLVE("0x1000"), strlen(RESOLVE("0x1000")));
        query_connection_feed(session, (const uint8_t *)call, QUERY_MAX_CALL);
        run(session, 0);
        ck_assert(query_connection_is_partial(session) && !query_connection_is_over(session));
        ck_assert(query_connection_wants_input(session));
        query_connection_feed(session, (const uint8_t *)"", 1);
        run(session, 0);
        got = replies(session);
        ck_assert_str_eq(got, "ok");
        query_connection_free(session);
        tracker_free(tracker);
}
END_TEST

/* A client that does not read its replies: the daemon stops reading from it until it does. */
START_TEST(test_unread)
{
        Tracker *tracker = script_tracker(HISTORY);
        QueryConnection *session = session_new(tracker);
        GString *output = query_connection_output(session);
        size_t n_calls = 0, n_replies = 0, i;

        while (query_connection_wants_input(session)) {
                say(session, RESOLVE("0x1000"));
                n_calls++;
                run(session, 0);
                ck_assert_uint_le(output->len, 2 * QUERY_MAX_OUTPUT);
        }
        ck_assert_uint_gt(output->len, QUERY_MAX_OUTPUT);
        /* Calls that arrive nevertheless are queued, and answered later. */
        say(session, RESOLVE("0x9"));
        n_calls++;
        run(session, 0);
        ck_assert(!query_connection_is_over(session));
        for (i = 0; i < output->len; i++)
                n_replies += output->str[i] == '\0';
        ck_assert_uint_eq(n_replies, n_calls - 1);
        g_string_truncate(output, 0);
        run(session, 0);
        ck_assert_ptr_nonnull(strstr(output->str, "no-method"));
        ck_assert(query_connection_wants_input(session));
        query_connection_free(session);
        tracker_free(tracker);
}
END_TEST

/* Waiting calls with thousands of queries cost almost nothing while their processes have no
 * events. */
START_TEST(test_wait_is_cheap)
{
        enum { N_QUESTIONS = 4096, N_WAKES = 2000 };
        g_autoptr(GString) text = g_string_new(
                "{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"queries\":[");
        Tracker *tracker = script_tracker(HISTORY);
        QueryConnection *session = session_new(tracker);
        const GPtrArray *processes = tracker_processes(tracker);
        const Process *process = processes->pdata[0];
        const Trace *trace = process->traces->pdata[0];
        gint64 begin;
        unsigned i;

        for (i = 0; i < N_QUESTIONS; i++)
                g_string_append_printf(text, "%s{\"pid\":100,\"addr\":\"%x\",\"time\":%d}",
                                       i ? "," : "", 0x1000 + i % 32, i % 2 ? 50 : 25);
        g_string_append(text, "],\"wait_ms\":100000}}");
        say(session, text->str);
        ck_assert_int_eq(run(session, 5000), 100000);
        begin = g_get_monotonic_time();
        for (i = 0; i < N_WAKES; i++)
                ck_assert_int_eq(query_connection_run(session, 5001), 99999);
        /* If each wake-up answered the whole call, it would take some ms. */
        ck_assert_int_lt(g_get_monotonic_time() - begin, N_WAKES * 1000);
        tracker_apply_progress(tracker, trace->streams->pdata[0], 60);
        ck_assert_int_eq(run(session, 5002), -1);
        ck_assert_ptr_nonnull(strstr(query_connection_output(session)->str, "\"ok\""));
        query_connection_free(session);
        tracker_free(tracker);
}
END_TEST

/* A slow Resolve is divided into turns, and its answers are complete and in order. */
START_TEST(test_divided)
{
        enum { N_BODIES = 3000, N_QUESTIONS = 2000 };
        g_autoptr(GString) script = g_string_new(NULL),
                           text = g_string_new("{\"method\":\"org.clrsym.Symbolizer.Resolve\","
                                               "\"parameters\":{\"queries\":[");
        Tracker *tracker;
        QueryConnection *session;
        const char *at;
        unsigned n_turns = 1, i;

        /* Each address has all bodies in its history, so that answers are slow. */
        for (i = 1; i <= N_BODIES; i++)
                g_string_append_printf(script,
                                       "%u MethodLoadVerbose_V1 id=%u start=0x10000 size=65536\n"
                                       "%u MethodUnloadVerbose_V1 id=%u start=0x10000 size=65536\n",
                                       10 * i, i, 10 * i + 5, i);
        tracker = script_tracker(script->str);
        session = session_new(tracker);
        clock_step_us = 100;
        for (i = 0; i < N_QUESTIONS; i++)
                g_string_append_printf(text, "%s{\"pid\":100,\"addr\":\"0x%x\"}", i ? "," : "",
                                       0x10000 + i);
        g_string_append(text, "]}}");
        say(session, text->str);
        while (query_connection_run(session, 0) == 0)
                n_turns++;
        ck_assert_uint_gt(n_turns, 2);
        at = query_connection_output(session)->str;
        for (i = 0; i < N_QUESTIONS; i++) {
                g_autofree char *addr = g_strdup_printf("\"addr\":\"0x%x\"", 0x10000 + i);

                at = strstr(at, addr);
                ck_assert_msg(at, "no answer %u", i);
        }
        query_connection_free(session);
        tracker_free(tracker);
}
END_TEST

/* A frame with long names: unread output stays bounded, and all of it arrives. */
START_TEST(test_bulk_unread)
{
        enum { N_BODIES = 500, N_NAME = 60000 };
        g_autofree char *name = g_strnfill(N_NAME, 'x');
        g_autoptr(GString) script = g_string_new(NULL);
        g_autoptr(GByteArray) frames = g_byte_array_new();
        BulkHeader header = {.size = N_BODIES * sizeof(BulkQuery), .type = BULK_QUERIES, .tag = 7};
        Tracker *tracker;
        QueryConnection *session;
        GString *output;
        size_t at = 0, n_names = 0, n_answers = 0;
        unsigned i;

        for (i = 0; i < N_BODIES; i++)
                g_string_append_printf(script,
                                       "%u MethodLoadVerbose_V1 id=%u start=%u size=16 name=%u%s\n",
                                       i + 1, i + 1, 0x10000 + 16 * i, i, name);
        tracker = script_tracker(script->str);
        session = session_new(tracker);
        output = query_connection_output(session);
        say(session, "{\"method\":\"org.clrsym.Symbolizer.Bulk\",\"parameters\":{\"version\":3},"
                     "\"upgrade\":true}");
        run(session, 0);
        g_string_truncate(output, 0);
        query_connection_feed(session, (const uint8_t *)&header, sizeof(header));
        for (i = 0; i < N_BODIES; i++) {
                const BulkQuery query = {.pid = 100, .address = 0x10000 + 16 * i};

                query_connection_feed(session, (const uint8_t *)&query, sizeof(query));
        }
        while (!n_answers) {
                for (i = 0; i < 100; i++) /* the client does not read */
                        query_connection_run(session, 0);
                ck_assert_uint_lt(output->len, QUERY_MAX_OUTPUT + (3 << 20));
                ck_assert_uint_gt(output->len, 0);
                g_byte_array_append(frames, (const uint8_t *)output->str, (guint)output->len);
                g_string_truncate(output, 0);
                for (; at < frames->len; at += sizeof(header) + header.size) {
                        memcpy(&header, frames->data + at, sizeof(header));
                        if (header.type == BULK_NAMES)
                                n_names += header.size;
                        if (header.type == BULK_ANSWERS)
                                n_answers = header.size / sizeof(BulkAnswer);
                }
        }
        ck_assert_uint_eq(n_answers, N_BODIES);
        ck_assert_uint_ge(n_names, N_BODIES * N_NAME);
        query_connection_free(session);
        tracker_free(tracker);
}
END_TEST

/* Thousands of calls at once, each about all bodies: other clients have their turn. */
START_TEST(test_turns)
{
        g_autoptr(GString) script = g_string_new(NULL);
        Tracker *tracker;
        QueryConnection *session;
        const GString *output;
        size_t n_replies = 0, n_calls, i;
        unsigned n_turns = 1;

        for (i = 1; i <= 20000; i++)
                g_string_append_printf(script,
                                       "%zu MethodLoadVerbose_V1 id=%zu start=%zu size=16\n", i, i,
                                       0x1000 * i);
        tracker = script_tracker(script->str);
        session = session_new(tracker);
        clock_step_us = 100;
        output = query_connection_output(session);
        for (n_calls = 0; n_calls < 1000; n_calls++)
                say(session, CALL("Versions", "\"method\":\"0xffffffff\""));
        for (; query_connection_run(session, 0) == 0; n_turns++)
                ck_assert(query_connection_wants_input(session) &&
                          !query_connection_is_partial(session));
        ck_assert_uint_gt(n_turns, 2);
        for (i = 0; i < output->len; i++)
                n_replies += output->str[i] == '\0';
        ck_assert_uint_eq(n_replies, n_calls);
        query_connection_free(session);
        tracker_free(tracker);
}
END_TEST

/* The values of a call can take a hundred times as much memory as its text. */
START_TEST(test_many_values)
{
        Tracker *tracker = script_tracker(HISTORY);
        QueryConnection *session = session_new(tracker);
        g_autoptr(GString) call = g_string_new("{\"method\":\"a.B\",\"parameters\":{\"x\":[");
        g_autofree char *got = NULL;

        while (call->len < QUERY_MAX_CALL - 100)
                g_string_append(call, "{},");
        g_string_append(call, "{}]}}");
        say(session, call->str);
        say(session, RESOLVE("0x1000"));
        run(session, 0);
        got = replies(session);
        ck_assert_str_eq(got, "org.clrsym.Symbolizer.LimitExceeded ok");
        query_connection_free(session);
        tracker_free(tracker);
}
END_TEST

/* Memory of calls and replies is accounted; above the limit, no further call is answered. */
START_TEST(test_memory)
{
        Tracker *tracker = script_tracker(HISTORY);
        QueryMemory memory = {.limit = 1000};
        const QueryContext context = {.tracker = tracker,
                                      .viewer = {.sees_all = true},
                                      .is_live = true,
                                      .memory = &memory};
        QueryConnection *unread = query_connection_new(&context), *other;
        GString *output;

        while (memory.n_bytes <= memory.limit) {
                say(unread, RESOLVE("0x1000"));
                query_connection_run(unread, 0);
        }
        ck_assert_uint_eq(memory.n_bytes, query_connection_size(unread));
        other = query_connection_new(&context);
        output = query_connection_output(other);
        say(other, RESOLVE("0x1000"));
        ck_assert_int_eq(query_connection_run(other, 0), 0);
        ck_assert_uint_eq(output->len, 0);
        ck_assert_uint_eq(memory.n_bytes,
                          query_connection_size(unread) + query_connection_size(other));
        query_connection_free(unread);
        ck_assert_int_eq(query_connection_run(other, 0), -1);
        ck_assert_uint_gt(output->len, 0);
        query_connection_free(other);
        ck_assert_uint_eq(memory.n_bytes, 0);
        tracker_free(tracker);
}
END_TEST

/* A waiting call continues when its own process has progressed, not when another process has. */
START_TEST(test_process_comes)
{
        Tracker *tracker =
                script_tracker("0: 10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
                               "1: 10 MethodLoadVerbose_V1 pid=200 id=1 start=0x1000 "
                               "size=16 name=B\n"
                               "0: progress 20\n1: progress 20\n");
        const QueryContext context = {
                .tracker = tracker, .viewer = {.sees_all = true}, .is_live = true};
        static const char *const CALLS[] = {
                "{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"queries\":["
                "{\"pid\":100,\"addr\":\"0x1000\",\"time\":50}],\"wait_ms\":100000}}",
                "{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"queries\":["
                "{\"pid\":300,\"addr\":\"0x1000\",\"time\":50}],\"wait_ms\":100000}}"};
        QueryConnection *known = query_connection_new(&context);
        QueryConnection *unknown = query_connection_new(&context);

        say(known, CALLS[0]);
        say(unknown, CALLS[1]);
        ck_assert_int_gt(query_connection_run(known, 0), 0);
        ck_assert_int_gt(query_connection_run(unknown, 0), 0);
        script_go_on(tracker, "1: progress 100\n");
        ck_assert(!query_connection_may_go_on(known));
        ck_assert(!query_connection_may_go_on(unknown));
        script_go_on(tracker, "0: progress 40\n");
        ck_assert(!query_connection_may_go_on(known));
        script_go_on(tracker, "0: progress 60\n");
        ck_assert(query_connection_may_go_on(known));
        ck_assert(!query_connection_may_go_on(unknown));
        script_go_on(tracker,
                     "1: 110 MethodLoadVerbose_V1 pid=300 id=1 start=0x1000 size=16 name=C\n");
        ck_assert(query_connection_may_go_on(unknown));
        query_connection_run(known, 1);
        ck_assert_uint_gt(query_connection_output(known)->len, 0);
        ck_assert(!query_connection_may_go_on(known));
        query_connection_free(known);
        query_connection_free(unknown);
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("query-connection");
        TCase *tcase = tcase_create("query-connection");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_oversize, 0, 2);
        tcase_add_test(tcase, test_unread);
        tcase_add_loop_test(tcase, test_every_cut, 0, G_N_ELEMENTS(SCRIPTS));
        tcase_add_loop_test(tcase, test_wait, 0, 2);
        tcase_add_test(tcase, test_wait_twice);
        tcase_add_test(tcase, test_largest);
        tcase_add_test(tcase, test_turns);
        tcase_add_test(tcase, test_wait_is_cheap);
        tcase_add_test(tcase, test_divided);
        tcase_add_test(tcase, test_many_values);
        tcase_add_test(tcase, test_memory);
        tcase_add_test(tcase, test_process_comes);
        tcase_add_test(tcase, test_bulk_unread);
        suite_add_tcase(suite, tcase);
        return suite;
}
