/* SPDX-License-Identifier: MIT */

/*
 * Lists in parts: while rows come and go between two parts, no row comes twice, and each permanent
 * row is in one of the parts.
 */

#include "query/query.h"

#include "support/script.h"
#include "support/suite.h"

#include <jansson.h>
#include <string.h>

#define CALL(method, parameters)                                                                   \
        "{\"method\":\"org.clrsym.Symbolizer." method "\",\"parameters\":{" parameters             \
        "},\"more\":true}"

/* A list that is being read. */
typedef struct Reading {
        QueryContext context;
        const char *call;
        const char *member;
        QueryProgress progress;
        GHashTable *rows; /* owned: identity of a row -> NULL */
        unsigned n_parts;
        bool is_over;
} Reading;

static Reading reading_begin(const Tracker *tracker, const char *call, const char *member)
{
        return (Reading){.context = {.tracker = tracker, .viewer = {.sees_all = true}},
                         .call = call,
                         .member = member,
                         .rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL)};
}

static char *row_key(const json_t *row)
{
        const json_t *method = json_object_get(row, "method");
        const char *start = json_string_value(json_object_get(row, "start"));
        const char *id = json_string_value(json_object_get(method ? method : row, "id"));

        return g_strdup_printf("%d %s %s", (int)json_integer_value(json_object_get(row, "pid")),
                               start ? start : "", id ? id : "");
}

/* Takes the next part; checks that none of its rows came before. Returns its number of rows. */
static size_t read_part(Reading *reading)
{
        g_autoptr(GString) out = g_string_new(NULL);
        QueryNext next = query_call(&reading->context, reading->call, strlen(reading->call),
                                    &reading->progress, out);
        json_t *reply = json_loadb(out->str, out->len, 0, NULL), *row;
        const json_t *rows = json_object_get(json_object_get(reply, "parameters"), reading->member);
        size_t n = json_array_size(rows), i;

        ck_assert_msg(json_is_array(rows), "got %s", out->str);
        ck_assert(next == QUERY_MORE || next == QUERY_DONE);
        ck_assert(json_is_true(json_object_get(reply, "continues")) == (next == QUERY_MORE));
        json_array_foreach(rows, i, row)
        {
                char *key = row_key(row);

                ck_assert_msg(g_hash_table_add(reading->rows, key), "%s comes twice", key);
        }
        ck_assert(n <= 1000);
        reading->n_parts++;
        reading->is_over = next == QUERY_DONE;
        json_decref(reply);
        return n;
}

static void read_rest(Reading *reading)
{
        while (!reading->is_over)
                read_part(reading);
}

static bool has_row(const Reading *reading, int pid, unsigned start, unsigned id)
{
        g_autofree char *key = start ? g_strdup_printf("%d 0x%x 0x%x", pid, start, id)
                                     : g_strdup_printf("%d  ", pid);

        return g_hash_table_contains(reading->rows, key);
}

static void reading_end(Reading *reading)
{
        g_hash_table_unref(reading->rows);
}

/* Appends N bodies of PID from time TIME on; if IS_OVER, also the end of the process. */
static void append_bodies(GString *script, int pid, unsigned time, unsigned n, bool is_over)
{
        unsigned i;

        for (i = 1; i <= n; i++)
                g_string_append_printf(
                        script,
                        "%u MethodLoadVerbose_V1 pid=%d id=%u start=%u size=16 ns=N.T name=A\n",
                        time + i, pid, i, 0x1000 * i);
        if (is_over)
                g_string_append_printf(script, "%u AppDomainUnload_V1 pid=%d\n", time + n + 1, pid);
}

static void check_bodies(const Reading *reading, int pid, unsigned n)
{
        unsigned i;

        for (i = 1; i <= n; i++)
                ck_assert_msg(has_row(reading, pid, 0x1000 * i, i), "%d: body %u is missing", pid,
                              i);
}

static const struct {
        const char *call;
        const char *member;
} BODY_LISTS[] = {
        {CALL("ListMethods", "\"all\":true"), "methods"},
        {CALL("ListMethods", ""), "methods"},
        {CALL("Versions", "\"method\":\"N.T.A\""), "bodies"},
};

/* The process at which a part ended is evicted before the next part. */
START_TEST(test_process_goes)
{
        g_autoptr(GString) script = g_string_new(NULL);
        Tracker *tracker;
        Reading reading;

        append_bodies(script, 1, 10, 300, false);
        append_bodies(script, 2, 1000, 1500, true);
        append_bodies(script, 3, 3000, 1200, false);
        tracker = script_tracker(script->str);
        reading = reading_begin(tracker, BODY_LISTS[_i].call, BODY_LISTS[_i].member);
        ck_assert_uint_eq(read_part(&reading), 1000);
        ck_assert(has_row(&reading, 2, 0x1000, 1) && !has_row(&reading, 3, 0x1000, 1));
        tracker_age(tracker, 0);
        tracker_age(tracker, 0);
        ck_assert_uint_eq(tracker_processes(tracker)->len, 2);
        read_rest(&reading);
        check_bodies(&reading, 1, 300);
        check_bodies(&reading, 3, 1200);
        ck_assert(!has_row(&reading, 2, 0x1000 * 1500, 1500));
        reading_end(&reading);
        tracker_free(tracker);
}
END_TEST

/* While the list is read, bodies end, and other bodies are loaded at their addresses. */
START_TEST(test_bodies_change)
{
        g_autoptr(GString) script = g_string_new(NULL);
        Tracker *tracker;
        Reading reading;
        unsigned i, time = 10000;

        append_bodies(script, 1, 10, 3500, false);
        tracker = script_tracker(script->str);
        reading = reading_begin(tracker, BODY_LISTS[_i].call, BODY_LISTS[_i].member);
        while (!reading.is_over) {
                read_part(&reading);
                g_string_truncate(script, 0);
                for (i = 7; i <= 3500; i += 7, time += 2)
                        g_string_append_printf(script,
                                               "%u MethodLoadVerbose_V1 pid=1 id=%u start=%u "
                                               "size=16 ns=N.T name=A\n",
                                               time, time, 0x1000 * i);
                script_go_on(tracker, script->str);
        }
        ck_assert_uint_ge(reading.n_parts, 4);
        for (i = 1; i <= 3500; i++)
                ck_assert(i % 7 == 0 || has_row(&reading, 1, 0x1000 * i, i));
        reading_end(&reading);
        tracker_free(tracker);
}
END_TEST

START_TEST(test_processes)
{
        g_autoptr(GString) script = g_string_new(NULL);
        Tracker *tracker;
        Reading reading;
        int pid;

        for (pid = 1; pid <= 2500; pid++)
                append_bodies(script, pid, 10 * (unsigned)pid, 1, pid % 2);
        tracker = script_tracker(script->str);
        reading = reading_begin(tracker, CALL("ListProcesses", ""), "processes");
        ck_assert_uint_eq(read_part(&reading), 1000);
        tracker_age(tracker, 0);
        tracker_age(tracker, 0);
        ck_assert_uint_eq(tracker_processes(tracker)->len, 1250);
        read_rest(&reading);
        ck_assert_uint_eq(reading.n_parts, 2);
        for (pid = 1; pid <= 2500; pid++)
                ck_assert(has_row(&reading, pid, 0, 0) == (pid % 2 == 0 || pid <= 1000));
        reading_end(&reading);
        tracker_free(tracker);
}
END_TEST

START_TEST(test_modules)
{
        g_autoptr(GString) script = g_string_new(NULL);
        Tracker *tracker;
        Reading reading;
        unsigned i;

        for (i = 1; i <= 2200; i++)
                g_string_append_printf(script, "%u ModuleLoad_V2 pid=%u module=%u path=/a.dll\n", i,
                                       i <= 1100 ? 1 : 2, i);
        tracker = script_tracker(script->str);
        reading = reading_begin(tracker, CALL("ListModules", ""), "modules");
        read_rest(&reading);
        ck_assert_uint_eq(reading.n_parts, 3);
        ck_assert_uint_eq(g_hash_table_size(reading.rows), 2200);
        reading_end(&reading);
        tracker_free(tracker);
}
END_TEST

/* The history, also of code that was loaded and unloaded at one time; generations from the newest
 * on. */
START_TEST(test_history)
{
        g_autoptr(GString) script = g_string_new(NULL);
        Tracker *tracker;
        Reading reading;
        unsigned i;
        int pid;

        for (pid = 1; pid <= 2; pid++)
                for (i = 1; i <= 1600; i++)
                        g_string_append_printf(script,
                                               "%u MethodLoadVerbose_V1 pid=%d id=%u start=0x1000 "
                                               "size=16 ns=N.T name=A\n",
                                               10000 * (unsigned)pid + i / 30, pid, i);
        tracker = script_tracker(script->str);
        reading = reading_begin(tracker, CALL("History", "\"addr\":\"0x1008\""), "bodies");
        ck_assert_uint_eq(read_part(&reading), 1000);
        ck_assert(has_row(&reading, 2, 0x1000, 1600) && !has_row(&reading, 2, 0x1000, 1));
        script_go_on(tracker,
                     "30000 MethodLoadVerbose_V1 pid=2 id=9999 start=0x1000 size=16 name=B");
        read_rest(&reading);
        ck_assert_uint_eq(reading.n_parts, 4);
        for (pid = 1; pid <= 2; pid++)
                for (i = 1; i <= 1600; i++)
                        ck_assert_msg(has_row(&reading, pid, 0x1000, i), "%d: %u is missing", pid,
                                      i);
        reading_end(&reading);
        tracker_free(tracker);
}
END_TEST

/* Long names: a part has fewer rows, and the call succeeds. */
START_TEST(test_long_names)
{
        g_autoptr(GString) script = g_string_new(NULL);
        g_autofree char *name = g_strnfill(30000, 'N');
        Tracker *tracker;
        Reading reading;
        unsigned i;

        for (i = 1; i <= 700; i++)
                g_string_append_printf(script,
                                       "%u MethodLoadVerbose_V1 id=%u start=%u size=16 name=%s\n",
                                       i, i, 0x1000 * i, name);
        tracker = script_tracker(script->str);
        reading = reading_begin(tracker, CALL("ListMethods", ""), "methods");
        ck_assert_uint_lt(read_part(&reading), 100);
        read_rest(&reading);
        check_bodies(&reading, 100, 700);
        reading_end(&reading);
        tracker_free(tracker);
}
END_TEST

/* The whole list would have 42 MB. */
START_TEST(test_limit)
{
        static const char WHOLE[] = "{\"method\":\"org.clrsym.Symbolizer.ListMethods\"}";
        g_autoptr(GString) script = g_string_new(NULL), out = g_string_new(NULL);
        g_autofree char *name = g_strnfill(30000, 'N');
        QueryProgress progress = {0};
        QueryContext context = {.viewer = {.sees_all = true}};
        Tracker *tracker;
        unsigned i;

        for (i = 1; i <= 700; i++)
                g_string_append_printf(script,
                                       "%u MethodLoadVerbose_V1 id=%u start=%u size=16 name=%s\n",
                                       i, i, 0x1000 * i, name);
        tracker = script_tracker(script->str);
        context.tracker = tracker;
        ck_assert_int_eq(query_call(&context, WHOLE, strlen(WHOLE), &progress, out), QUERY_DONE);
        ck_assert_msg(
                g_str_has_prefix(out->str, "{\"error\":\"org.clrsym.Symbolizer.LimitExceeded\""),
                "got %.200s", out->str);
        tracker_free(tracker);
}
END_TEST

/* Turns without time: a reply is the same, whole or in parts. */
static const char *const DIVIDED[] = {
        "{\"method\":\"org.clrsym.Symbolizer.ListProcesses\"}",
        "{\"method\":\"org.clrsym.Symbolizer.ListMethods\",\"parameters\":{\"all\":true}}",
        "{\"method\":\"org.clrsym.Symbolizer.ListModules\",\"parameters\":{\"all\":true}}",
        "{\"method\":\"org.clrsym.Symbolizer.History\",\"parameters\":{\"addr\":\"0x1000\"}}",
        "{\"method\":\"org.clrsym.Symbolizer.Versions\",\"parameters\":{\"method\":\"N.T.A\"}}",
        "{\"method\":\"org.clrsym.Symbolizer.Versions\",\"parameters\":{\"method\":\"N.T.B\"}}",
        "{\"method\":\"org.clrsym.Symbolizer.ListMethods\",\"more\":true}",
        "{\"method\":\"org.clrsym.Symbolizer.ListModules\",\"more\":true}",
        "{\"method\":\"org.clrsym.Symbolizer.Status\"}",
        "{\"method\":\"org.clrsym.Symbolizer.Metrics\"}",
        "{\"method\":\"org.clrsym.Symbolizer.JitStatistics\"}",
        "{\"method\":\"org.clrsym.Symbolizer.JitStatistics\",\"more\":true}",
};

START_TEST(test_turns)
{
        g_autoptr(GString) script = g_string_new(NULL), whole = g_string_new(NULL),
                           divided = g_string_new(NULL);
        QueryContext context = {.viewer = {.sees_all = true}};
        unsigned time = 0, n_turns = 0, n_parts = 0, i;
        QueryProgress progress = {0};
        QueryNext next;
        int pid;

        for (pid = 1; pid <= 200; pid++)
                g_string_append_printf(script, "%u ModuleLoad pid=%d module=7 path=/a.dll\n",
                                       ++time, pid);
        for (i = 0; i < 300; i++)
                g_string_append_printf(script,
                                       "%u MethodLoadVerbose_V1 pid=300 id=%u start=0x1000 size=16 "
                                       "ns=N.T name=A\n",
                                       time += 20, i + 1);
        append_bodies(script, 301, time + 100, 3000, false);
        context.tracker = script_tracker(script->str);
        do
                next = query_call(&context, DIVIDED[_i], strlen(DIVIDED[_i]), &progress, whole);
        while (next == QUERY_MORE);
        context.turn_end = 1;
        do {
                next = query_call(&context, DIVIDED[_i], strlen(DIVIDED[_i]), &progress, divided);
                n_turns++;
                n_parts += next == QUERY_MORE;
        } while (next == QUERY_AGAIN || next == QUERY_MORE);
        ck_assert_int_eq(next, QUERY_DONE);
        ck_assert_uint_gt(n_turns, n_parts + 1);
        ck_assert_str_eq(divided->str, whole->str);
        ck_assert_ptr_null(progress.reply);
        tracker_free((Tracker *)context.tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("lists");
        TCase *tcase = tcase_create("lists");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_process_goes, 0, G_N_ELEMENTS(BODY_LISTS));
        tcase_add_loop_test(tcase, test_bodies_change, 0, G_N_ELEMENTS(BODY_LISTS));
        tcase_add_test(tcase, test_processes);
        tcase_add_test(tcase, test_modules);
        tcase_add_test(tcase, test_history);
        tcase_add_test(tcase, test_long_names);
        tcase_add_test(tcase, test_limit);
        tcase_add_loop_test(tcase, test_turns, 0, G_N_ELEMENTS(DIVIDED));
        suite_add_tcase(suite, tcase);
        return suite;
}
