/* SPDX-License-Identifier: MIT */

/* Calls and their replies, as text. */

#include "query/query.h"

#include "support/script.h"
#include "support/suite.h"

#include <string.h>

static const char HISTORY[] =
        "1000000000 RuntimeInformationStart BclMajorVersion=10 BclBuildNumber=12\n"
        "1000000001 ModuleLoad_V2 module=0x77 path=/a/b.dll\n"
        "2000000000 MethodJittingStarted id=0x1 MethodILSize=24\n"
        "2000000000 MethodLoadVerbose_V1 id=0x1 start=0x1000 size=16 flags=0x188 token=0x6000001 "
        "module=0x77 ns=N.T name=A MethodSignature=()\n"
        "2000000001 MethodILToNativeMap_V1 id=0x1 CountOfMapEntries=3 ILOffsets=-2,0,-1 "
        "NativeOffsets=0,4,8\n"
        "3000000000 MethodUnloadVerbose_V1 id=0x1 start=0x1000 size=16 name=A\n"
        "3500000000 R2RGetEntryPoint id=0x9 entry=0x9000 name=P\n"
        "progress 4000000000\n";

#define RESOLVE(queries)                                                                           \
        "{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"queries\":[" queries "]}" \
        "}"

#define A_FIELDS                                                                                   \
        "\"symbol\":\"N.T.A()\",\"method\":{\"id\":\"0x1\",\"namespace\":\"N.T\",\"name\":\"A\","  \
        "\"signature\":\"()\",\"token\":\"0x06000001\",\"stub_for\":null,\"il_size\":24,\"type_"   \
        "args\":null},"                                                                            \
        "\"start\":\"0x1000\","                                                                    \
        "\"size\":16,"
#define A_VERSION                                                                                  \
        "\"flags\":392,\"flag_names\":[\"jitted\"],\"version\":{\"rejit_id\":0,\"il_version\":0,"  \
        "\"tier\":\"QuickJitted\"},"                                                               \
        "\"module\":{\"id\":\"0x77\",\"path\":\"/a/b.dll\",\"pdb_guid\":null,\"pdb_path\":null},"
#define A_LIFE                                                                                     \
        "\"jit_ms\":0.001,\"loaded\":\"2.000000000\",\"unloaded\":\"3.000000000\",\"source\":"     \
        "\"load\""

static const struct {
        const char *call;
        const char *reply; /* the whole reply, or, if this ends in ..., its begin */
} ROWS[] = {
        {"", "{\"error\":\"org.clrsym.Symbolizer.InvalidCall\",..."},
        {"[]", "{\"error\":\"org.clrsym.Symbolizer.InvalidCall\",..."},
        {"{\"method\":\"\xff\"}", "{\"error\":\"org.clrsym.Symbolizer.InvalidCall\",..."},
        {"{}",
         "{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":{\"method\":null}}"},
        {"{\"method\":\"x.Y\"}",
         "{\"error\":\"org.varlink.service.MethodNotFound\",\"parameters\":{\"method\":\"x.Y\"}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.Resolve\"}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":"
         "\"queries\"}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"queries\":[],"
         "\"wait_ms\":-1}}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",..."},
        {RESOLVE(""), "{\"parameters\":{\"answers\":[],\"processes\":[]}}"},
        {RESOLVE(" \n"), "{\"parameters\":{\"answers\":[],\"processes\":[]}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"\\u0071ueries\":[{"
         "\"pid\":"
         "7,\"addr\":\"1\"}]}}",
         "{\"parameters\":{\"answers\":[{\"pid\":7,\"pid_ns\":null,\"addr\":\"0x1\"..."},
        /* A call that is not valid JSON as a whole gets no answers. */
        {RESOLVE("{\"pid\":7,\"addr\":\"1\"},"),
         "{\"error\":\"org.clrsym.Symbolizer.InvalidCall\",..."},
        {RESOLVE("{\"pid\":7,\"addr\":\"1\"} 7"),
         "{\"error\":\"org.clrsym.Symbolizer.InvalidCall\",..."},
        {RESOLVE("{\"pid\":7,\"addr\":\"1\"},{]}"),
         "{\"error\":\"org.clrsym.Symbolizer.InvalidCall\",..."},
        {RESOLVE("{\"pid\":7,\"addr\":\"1\",\"pid\":8}"),
         "{\"error\":\"org.clrsym.Symbolizer.InvalidCall\",..."},
        {"{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"queries\":[7],"
         "\"queries\":[]}"
         "}",
         "{\"error\":\"org.clrsym.Symbolizer.InvalidCall\",..."},
        {"{\"method\":\"org.clrsym.Symbolizer.Status\",\"parameters\":{\"queries\":[7 7]}}",
         "{\"error\":\"org.clrsym.Symbolizer.InvalidCall\",..."},
        {"{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"queries\":[7 7],"
         "\"wait_ms\":-1}}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",..."},
        {RESOLVE("7,{\"pid\":0,\"addr\":\"1\"},{\"pid\":100},{\"pid\":100,\"addr\":\"0x\"},"
                 "{\"pid\":100,\"addr\":\"1\",\"time\":\"x\"}"),
         "{\"parameters\":{\"answers\":["
         "{\"pid\":null,\"pid_ns\":null,\"addr\":null,\"time\":null,\"status\":\"invalid\","
         "\"reason\":\"a query is an "
         "object\",\"confidence\":null,\"horizon\":null,\"epoch\":null},..."},
        {RESOLVE("{\"pid\":7,\"addr\":\"1000\"}"),
         "{\"parameters\":{\"answers\":[{\"pid\":7,\"pid_ns\":null,\"addr\":\"0x1000\","
         "\"time\":null,\"status\":\"no-process\",\"confidence\":null,\"horizon\":null,\"epoch\":"
         "null}],"
         "\"processes\":[]}}"},
        {RESOLVE("{\"pid\":100,\"addr\":\"0x1005\",\"time\":\"2.5\"}"),
         "{\"parameters\":{\"answers\":[{\"pid\":100,\"pid_ns\":0,\"addr\":\"0x1005\","
         "\"time\":\"2.500000000\",\"status\":\"ok\"," A_FIELDS "\"offset\":5," A_VERSION
         "\"il_offset\":0,\"il_kind\":\"exact\",\"line_il_offset\":0,\"inlined\":null," A_LIFE
         ",\"confidence\":\"exact\",\"horizon\":\"4.000000000\",\"epoch\":2}],\"processes\":[{"
         "\"pid\":100,"
         "\"pid_ns\":0,\"generation\":1,\"epoch\":2,\"horizon\":\"4.000000000\"}]}}"},
        {RESOLVE("{\"pid\":100,\"pid_ns\":0,\"addr\":\"0x1008\",\"time\":3500000000}"),
         "{\"parameters\":{\"answers\":[{\"pid\":100,\"pid_ns\":0,\"addr\":\"0x1008\","
         "\"time\":\"3.500000000\",\"status\":\"unloaded\",\"nearest\":{" A_FIELDS
         "\"offset\":8," A_VERSION "\"il_offset\":null,\"il_kind\":\"no-mapping\",\"line_il_"
         "offset\":0,\"inlined\":null," A_LIFE
         ",\"distance\":-0.500000000},\"confidence\":\"exact\",\"horizon\":\"4.000000000\","
         "\"epoch\":2}],"
         "\"processes\":[{\"pid\":100,"
         "\"pid_ns\":0,\"generation\":1,\"epoch\":2,\"horizon\":\"4.000000000\"}]}}"},
        {RESOLVE("{\"pid\":100,\"addr\":\"0x9000\"}"),
         "{\"parameters\":{\"answers\":[{\"pid\":100,\"pid_ns\":0,\"addr\":\"0x9000\","
         "\"time\":null,\"status\":\"ok\",\"symbol\":\"P()\",\"method\":{\"id\":\"0x9\","
         "\"namespace\":\"\",\"name\":\"P\",\"signature\":\"\",\"token\":null,\"stub_for\":null,"
         "\"il_size\":null,\"type_args\":null},"
         "\"start\":\"0x9000\",\"size\":null,\"offset\":0,\"flags\":null,\"flag_names\":null,"
         "\"version\":{"
         "\"rejit_id\":0,\"il_version\":null,\"tier\":\"ReadyToRun\"},\"module\":null,"
         "\"il_offset\":null,\"il_kind\":null,\"line_il_offset\":null,\"inlined\":null,\"jit_ms\":"
         "null,\"loaded\":"
         "null,\"unloaded\":null,"
         "\"source\":\"r2r-entry\",\"confidence\":\"exact\",\"horizon\":\"4.000000000\",\"epoch\":"
         "2}],"
         "\"processes\":[{\"pid\":100,"
         "\"pid_ns\":0,\"generation\":1,\"epoch\":2,\"horizon\":\"4.000000000\"}]}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.ListMethods\",\"parameters\":{\"all\":true,"
         "\"pid\":100}}",
         "{\"parameters\":{\"methods\":[{\"pid\":100,\"pid_ns\":0,\"generation\":1," A_FIELDS
                 A_VERSION A_LIFE "},..."},
        {"{\"method\":\"org.clrsym.Symbolizer.History\",\"parameters\":{\"pid\":100}}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":"
         "\"addr\""
         "}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.History\",\"parameters\":{\"addr\":\"0x1001\"}}",
         "{\"parameters\":{\"bodies\":[{\"pid\":100,\"pid_ns\":0,\"generation\":1," A_FIELDS
         "\"offset\":1,..."},
        {"{\"method\":\"org.clrsym.Symbolizer.Versions\",\"parameters\":{\"method\":\"N.T.A\"}}",
         "{\"parameters\":{\"bodies\":[{\"pid\":100,\"pid_ns\":0,\"generation\":1," A_FIELDS
                 A_VERSION "..."},
        {"{\"method\":\"org.clrsym.Symbolizer.Versions\",\"parameters\":{\"method\":\"0x1\","
         "\"il_version\":0}}",
         "{\"parameters\":{\"bodies\":[{\"pid\":100,..."},
        {"{\"method\":\"org.clrsym.Symbolizer.Versions\",\"parameters\":{\"method\":\"0x1\","
         "\"il_version\":5}}",
         "{\"parameters\":{\"bodies\":[]}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.Versions\",\"parameters\":{\"method\":\"0x1\","
         "\"time\":\"3.0\"}}",
         "{\"parameters\":{\"bodies\":[]}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.Versions\",\"parameters\":{\"method\":\"0x1\","
         "\"time\":\"2.0\"}}",
         "{\"parameters\":{\"bodies\":[{\"pid\":100,..."},
        {"{\"method\":\"org.clrsym.Symbolizer.History\",\"parameters\":{\"addr\":\"0x1000\","
         "\"time\":\"1.9\"}}",
         "{\"parameters\":{\"bodies\":[]}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.History\",\"parameters\":{\"addr\":\"0x1000\","
         "\"time\":\"2.9\"}}",
         "{\"parameters\":{\"bodies\":[{\"pid\":100,..."},
        {"{\"method\":\"org.clrsym.Symbolizer.History\",\"parameters\":{\"addr\":\"0x1000\","
         "\"time\":\"x\"}}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",..."},
        {"{\"method\":\"org.clrsym.Symbolizer.Versions\",\"parameters\":{\"method\":\"N.A\"}}",
         "{\"parameters\":{\"bodies\":[]}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.ListProcesses\"}",
         "{\"parameters\":{\"processes\":[{\"pid\":100,\"pid_ns\":0,\"generation\":1,"
         "\"state\":\"running\",\"runtime\":\"10.0.12\",..."},
        {"{\"method\":\"org.clrsym.Symbolizer.Status\"}", "{\"parameters\":{\"version\":..."},
        {"{\"method\":\"org.clrsym.Symbolizer.ListModules\",\"parameters\":{\"pid\":100}}",
         "{\"parameters\":{\"modules\":[{\"pid\":100,\"pid_ns\":0,\"generation\":1,\"id\":\"0x77\","
         "\"path\":\"/a/b.dll\",\"bodies\":1,\"live\":0,\"live_bytes\":0,"
         "\"native_path\":null,\"flags\":0,\"flag_names\":[],\"assembly_id\":null,"
         "\"assembly\":null,\"pdb_guid\":null,\"pdb_age\":null,\"pdb_path\":null,"
         "\"loaded\":\"1.000000001\",\"unloaded\":null}]}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.ListModules\",\"parameters\":{\"pid\":101}}",
         "{\"parameters\":{\"modules\":[]}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.ListModules\",\"parameters\":{\"pid\":0}}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":"
         "\"pid\"}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.ListMethods\",\"parameters\":{\"pid_ns\":\"0\"}}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":"
         "\"pid_ns\"}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.ListMethods\",\"parameters\":{\"time\":\"3.0\"}}",
         "{\"parameters\":{\"methods\":[{\"pid\":100,\"pid_ns\":0,\"generation\":1,\"symbol\":\"P()"
         "..."},
        {"{\"method\":\"org.clrsym.Symbolizer.ListMethods\",\"parameters\":{\"time\":2999999999}}",
         "{\"parameters\":{\"methods\":[{\"pid\":100,\"pid_ns\":0,\"generation\":1,\"symbol\":\"N."
         "T.A()..."},
        {"{\"method\":\"org.clrsym.Symbolizer.ListMethods\",\"parameters\":{\"time\":\"x\"}}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":"
         "\"time\"}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.ParseTime\",\"parameters\":{\"text\":\"1.5\"}}",
         "{\"parameters\":{\"time\":\"1.500000000\"}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.ParseTime\",\"parameters\":{\"text\":\"now\"}}",
         "{\"parameters\":{\"time\":\"4.000000000\"}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.ParseTime\",\"parameters\":{\"text\":\"soon\"}}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":"
         "\"text\"}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.ParseTime\"}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":"
         "\"text\"}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.Metrics\"}",
         "{\"parameters\":{\"text\":\"# HELP clrsym_build The program.\\u000a..."},
        {"{\"method\":\"org.clrsym.Symbolizer.Watch\"}",
         "{\"error\":\"org.varlink.service.ExpectedMore\",\"parameters\":{}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.Watch\",\"parameters\":{\"pid\":\"1\"},\"more\":"
         "true}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",..."},
        {"{\"method\":\"org.clrsym.Symbolizer.Bulk\",\"parameters\":{\"version\":1}}",
         "{\"error\":\"org.clrsym.Symbolizer.UpgradeExpected\",\"parameters\":{}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.Bulk\",\"parameters\":{\"version\":5},"
         "\"upgrade\":true}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":"
         "\"version\"}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.Bulk\",\"parameters\":{\"version\":1},"
         "\"upgrade\":true}",
         "{\"parameters\":{\"version\":1,\"max_queries\":4096,\"max_names\":262144,"
         "\"max_name_bytes\":67108864}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.Bulk\",\"parameters\":{\"version\":2},"
         "\"upgrade\":true}",
         "{\"parameters\":{\"version\":2,\"max_queries\":4096,\"max_names\":262144,"
         "\"max_name_bytes\":67108864}}"},
        {"{\"method\":\"org.clrsym.Symbolizer.Bulk\",\"parameters\":{\"version\":3},"
         "\"upgrade\":true}",
         "{\"parameters\":{\"version\":3,\"max_queries\":4096,\"max_names\":262144,"
         "\"max_name_bytes\":67108864,\"answer_size\":..."},
        {"{\"method\":\"org.clrsym.Symbolizer.Bulk\",\"parameters\":{\"version\":4},"
         "\"upgrade\":true}",
         "{\"parameters\":{\"version\":4,\"max_queries\":4096,\"max_names\":262144,"
         "\"max_name_bytes\":67108864,\"answer_size\":..."},
        {"{\"method\":\"org.varlink.service.GetInfo\"}",
         "{\"parameters\":{\"vendor\":\"clrsym\",\"product\":\"clrsymd\",\"version\":\"..."},
        {"{\"method\":\"org.varlink.service.GetInterfaceDescription\"}",
         "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{\"parameter\":"
         "\"interface\"}}"},
        {"{\"method\":\"org.varlink.service.GetInterfaceDescription\",\"parameters\":{"
         "\"interface\":\"a.b\"}}",
         "{\"error\":\"org.varlink.service.InterfaceNotFound\",\"parameters\":{\"interface\":"
         "\"a.b\"}}"},
        /* A oneway call gets no reply. */
        {"{\"method\":\"org.clrsym.Symbolizer.Status\",\"oneway\":true}", ""},
        {"{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"oneway\":true}", ""},
        {"{\"method\":\"x.Y\",\"oneway\":true}", ""},
        {"{\"method\":\"org.clrsym.Symbolizer.Watch\",\"more\":true,\"oneway\":true}", ""},
        {"{\"method\":\"org.clrsym.Symbolizer.Status\",\"oneway\":false}",
         "{\"parameters\":{\"version\":..."},
};

static GString *call(const char *text, const QueryContext *context, unsigned *ret_wait)
{
        GString *out = g_string_new(NULL);

        QueryProgress progress = {0};

        *ret_wait = query_call(context, text, strlen(text), &progress, out) == QUERY_WAIT
                            ? progress.wait_ms
                            : 0;
        query_progress_clear(&progress);
        return out;
}

START_TEST(test_call)
{
        Tracker *tracker = script_tracker(HISTORY);
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        size_t n = strlen(ROWS[_i].reply);
        g_autoptr(GString) out = NULL;
        unsigned wait;

        out = call(ROWS[_i].call, &context, &wait);
        ck_assert_uint_eq(wait, 0);
        if (g_str_has_suffix(ROWS[_i].reply, "..."))
                g_string_truncate(out, MIN(out->len, n -= 3));
        ck_assert_msg(out->len == n && !memcmp(out->str, ROWS[_i].reply, n), "got %s", out->str);
        tracker_free(tracker);
}
END_TEST

START_TEST(test_wait)
{
        static const char CALL[] =
                "{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"queries\":[{"
                "\"pid\":100,\"addr\":\"1000\",\"time\":\"4.5\"}],\"wait_ms\":250}}";
        Tracker *tracker = script_tracker(HISTORY);
        QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        unsigned wait;

        g_string_free(call(CALL, &context, &wait), TRUE);
        ck_assert_uint_eq(wait, 250);
        context.is_final = true;
        g_string_free(call(CALL, &context, &wait), TRUE);
        ck_assert_uint_eq(wait, 0);
        tracker_free(tracker);
}
END_TEST

/* Returns N copies of the same query. */
static char *many_queries(const char *query, unsigned n)
{
        GString *text = g_string_new(
                "{\"method\":\"org.clrsym.Symbolizer.Resolve\",\"parameters\":{\"queries\":[");

        for (; n; n--)
                g_string_append_printf(text, "%s%s", query, n > 1 ? "," : "]}}");
        return g_string_free(text, FALSE);
}

static unsigned count(const char *text, const char *part)
{
        unsigned n = 0;

        for (; (text = strstr(text, part)); text += strlen(part))
                n++;
        return n;
}

static void check_limit(const char *call_text, const QueryContext *context, const char *reply)
{
        unsigned wait;
        g_autoptr(GString) out = call(call_text, context, &wait);

        ck_assert_msg(g_str_has_prefix(out->str, reply), "got %.300s", out->str);
}

/* A reply is bounded, whatever the history of an address and whatever the names. */
START_TEST(test_bounds)
{
        static const char AMBIGUOUS[] = "{\"pid\":100,\"addr\":\"0x1000\"}";
        static const char LONG[] = "{\"pid\":100,\"addr\":\"0x9000\"}";
        g_autofree char *name = g_strnfill(30000, 'N'), *one = many_queries(AMBIGUOUS, 1);
        g_autofree char *most = many_queries(AMBIGUOUS, 4096), *more = many_queries(LONG, 4097);
        g_autofree char *few = many_queries(LONG, 100), *many = many_queries(LONG, 1000);
        g_autoptr(GString) script = g_string_new(NULL), out = NULL;
        Tracker *tracker;
        QueryContext context = {.viewer = {.sees_all = true}};
        unsigned i, wait;

        for (i = 1; i <= 40; i++)
                g_string_append_printf(script,
                                       "%u MethodLoadVerbose_V1 id=%u start=0x1000 size=16\n"
                                       "%u MethodUnloadVerbose_V1 id=%u start=0x1000 size=16\n",
                                       10 * i, i, 10 * i + 5, i);
        g_string_append_printf(script,
                               "900 MethodLoadVerbose_V1 id=99 start=0x9000 size=16 name=%s", name);
        tracker = script_tracker(script->str);
        context.tracker = tracker;

        out = call(one, &context, &wait);
        ck_assert_uint_eq(count(out->str, "\"symbol\":"), 16);
        ck_assert(
                strstr(out->str,
                       "\"candidates\":[{\"symbol\":\"method 0x28\",\"method\":{\"id\":\"0x28\""));
        ck_assert_uint_eq(count(out->str, "\"n_candidates\":40"), 1);
        g_string_free(out, TRUE);

        out = call(most, &context, &wait);
        ck_assert_uint_lt(out->len, 12 << 20);
        ck_assert_uint_eq(count(out->str, "\"n_candidates\":40"), 4096);
        ck_assert(count(out->str, "\"candidates\":[]") > 1000);
        ck_assert(count(out->str, "\"symbol\":") > 16 * 500);

        check_limit(few, &context, "{\"parameters\":{\"answers\":[{\"pid\":100,");
        check_limit(many, &context,
                    "{\"error\":\"org.clrsym.Symbolizer.LimitExceeded\",\"parameters\":{\"limit\":"
                    "\"16 MiB a reply");
        check_limit(more, &context,
                    "{\"error\":\"org.varlink.service.InvalidParameter\",\"parameters\":{"
                    "\"parameter\":\"queries\"}}");
        tracker_free(tracker);
}
END_TEST

/* Adds the rows of all parts of a reply to ANSWERS and PROCESSES; a call that waits gets no more
 * time. Returns the number of parts. */
static unsigned read_parts(const char *text, QueryContext context, json_t *answers,
                           json_t *processes)
{
        QueryProgress progress = {0};
        unsigned n_parts = 0;
        QueryNext next;

        context.is_final = false;
        do {
                g_autoptr(GString) out = g_string_new(NULL);
                json_auto_t *reply = NULL;
                const json_t *parameters;

                next = query_call(&context, text, strlen(text), &progress, out);
                if (next == QUERY_WAIT) {
                        ck_assert(!context.is_final);
                        context.is_final = true;
                        next = query_call(&context, text, strlen(text), &progress, out);
                        context.is_final = false;
                }
                reply = json_loadb(out->str, out->len, 0, NULL);
                parameters = json_object_get(reply, "parameters");
                ck_assert(json_is_true(json_object_get(reply, "continues")) ==
                          (next == QUERY_MORE));
                ck_assert(!json_array_extend(answers, json_object_get(parameters, "answers")));
                ck_assert(!json_array_extend(processes, json_object_get(parameters, "processes")));
                n_parts++;
        } while (next == QUERY_MORE);
        ck_assert_int_eq(next, QUERY_DONE);
        return n_parts;
}

/* With "more", the answers come in parts; together they are equal to the single reply. */
START_TEST(test_parts)
{
        static const char QUERIES[] = "{\"pid\":100,\"addr\":\"0x1008\",\"time\":\"9999\"},"
                                      "{\"pid\":100,\"addr\":\"0x9000\"},{\"pid\":0},"
                                      "{\"pid\":100,\"addr\":\"0x1008\",\"time\":\"2.5\"}";
        g_autofree char *name = g_strnfill(30000, 'N');
        g_autoptr(GString) script = g_string_new(HISTORY);
        json_auto_t *answers = json_array(), *processes = json_array(), *reply = NULL;
        const json_t *whole;
        Tracker *tracker;
        QueryContext context = {.viewer = {.sees_all = true}};
        g_autoptr(GString) all = NULL;
        g_autofree char *text = many_queries(QUERIES, 200), *more = NULL;
        unsigned wait;

        g_string_append_printf(script,
                               "4500000000 MethodLoadVerbose_V1 id=5 start=0x9000 size=16 "
                               "name=%s\n",
                               name);
        tracker = script_tracker(script->str);
        context.tracker = tracker;
        all = call(text, &context, &wait);
        reply = json_loads(all->str, 0, NULL);
        whole = json_object_get(reply, "parameters");
        ck_assert_uint_eq(json_array_size(json_object_get(whole, "answers")), 800);

        more = g_strdup_printf("%.*s,\"wait_ms\":1000},\"more\":true}", (int)strlen(text) - 2,
                               text);
        ck_assert_uint_gt(read_parts(more, context, answers, processes), 10);
        ck_assert(json_equal(answers, json_object_get(whole, "answers")));
        ck_assert(json_equal(processes, json_object_get(whole, "processes")));
        tracker_free(tracker);
}
END_TEST

/* The daemon derives the day from its events, without a search through all processes. */
START_TEST(test_time_of_day)
{
        static const struct {
                const char *text, *time;
        } TIMES[] = {
                {"00:00:02", "2.000000000"},
                {"00:00:03.5", "3.500000000"},
                {"23:59:59", "86399.000000000"}, /* the day before has no events */
        };
        static const char SCRIPT[] = "2000000000 ModuleLoad pid=100 module=7 path=/a.dll\n"
                                     "4000000000 ModuleLoad pid=101 module=7 path=/a.dll\n";
        Tracker *tracker = script_tracker(SCRIPT);
        const QueryContext context = {
                .tracker = tracker, .viewer = {.sees_all = true}, .is_live = true};
        uint64_t first, last;
        size_t i;

        g_setenv("TZ", "UTC", TRUE);
        for (i = 0; i < G_N_ELEMENTS(TIMES); i++) {
                g_autofree char *text = g_strdup_printf(
                        "{\"method\":\"org.clrsym.Symbolizer.ParseTime\",\"parameters\":{"
                        "\"text\":\"%s\"}}",
                        TIMES[i].text);
                g_autofree char *want =
                        g_strdup_printf("{\"parameters\":{\"time\":\"%s\"}}", TIMES[i].time);

                check_limit(text, &context, want);
        }
        tracker_forget(tracker, 1);
        tracker_range(tracker, &first, &last);
        ck_assert_uint_eq(first, 2000000000);
        ck_assert_uint_eq(last, 4000000000);
        tracker_free(tracker);
}
END_TEST

/* If each turn is over at once, a turn parses one query of a Resolve, so a turn can exceed its
 * limit only by the time of one query. */
START_TEST(test_parsed_by_turns)
{
        enum { N_QUERIES = 300 };
        g_autofree char *text = many_queries("{\"pid\":100,\"addr\":\"0x1000\"}", N_QUERIES);
        Tracker *tracker = script_tracker(HISTORY);
        const QueryContext context = {
                .tracker = tracker, .viewer = {.sees_all = true}, .turn_end = 1};
        g_autoptr(GString) out = g_string_new(NULL);
        QueryProgress progress = {0};
        unsigned n_turns = 1;

        while (query_call(&context, text, strlen(text), &progress, out) == QUERY_AGAIN) {
                ck_assert_uint_eq(out->len, 0);
                n_turns++;
        }
        ck_assert_uint_ge(n_turns, N_QUERIES);
        ck_assert_uint_eq(count(out->str, "\"addr\":\"0x1000\""), N_QUERIES);
        tracker_free(tracker);
}
END_TEST

/* A turn parses a bounded part of any call; white space around the call does not count. */
START_TEST(test_pieces)
{
        static const char *const LIMIT = "{\"error\":\"org.clrsym.Symbolizer.LimitExceeded\",";
        g_autofree char *space = g_strnfill(200000, ' '), *digits = g_strnfill(70000, '1');
        g_autofree char *long_query = g_strdup_printf("{\"pid\":100,\"addr\":\"%s\"}", digits);
        g_autofree char *padded = g_strdup_printf("%s{\"pid\":7,\"addr\":\"1\"}%s", space, space);
        g_autofree char *one = many_queries(long_query, 1), *two = many_queries(padded, 2);
        g_autofree char *other = g_strdup_printf("{\"method\":\"%s\"}", digits);
        Tracker *tracker = script_tracker(HISTORY);
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};

        check_limit(one, &context, LIMIT);
        check_limit(two, &context, "{\"parameters\":{\"answers\":[{\"pid\":7,");
        check_limit(other, &context, LIMIT);
        tracker_free(tracker);
}
END_TEST

/* A user sees the processes of the own uid; for that user no others exist. */
START_TEST(test_visibility)
{
        static const char CALL[] = RESOLVE("{\"pid\":100,\"addr\":\"1000\"}");
        Tracker *tracker = script_tracker(HISTORY);
        const struct {
                QueryContext context;
                const char *status;
        } rows[] = {
                {{.tracker = tracker, .viewer = {.uid = 1001}}, "\"no-process\""},
                {{.tracker = tracker, .viewer = {.uid = 1000}}, "\"ok\""},
                {{.tracker = tracker, .viewer = {.sees_all = true}}, "\"ok\""},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(rows); i++) {
                unsigned wait;
                g_autoptr(GString) out = call(CALL, &rows[i].context, &wait);

                ck_assert_msg(strstr(out->str, rows[i].status), "got %s", out->str);
        }
        /* Only a viewer who sees all users gets the owner. */
        for (i = 1; i < G_N_ELEMENTS(rows); i++) {
                static const char LIST[] = "{\"method\":\"org.clrsym.Symbolizer.ListProcesses\"}";
                unsigned wait;
                g_autoptr(GString) out = call(LIST, &rows[i].context, &wait);

                ck_assert(!!strstr(out->str, "\"uid\":1000") == rows[i].context.viewer.sees_all);
        }
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("query");
        TCase *tcase = tcase_create("query");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_call, 0, G_N_ELEMENTS(ROWS));
        tcase_add_test(tcase, test_wait);
        tcase_add_test(tcase, test_bounds);
        tcase_add_test(tcase, test_parts);
        tcase_add_test(tcase, test_time_of_day);
        tcase_add_test(tcase, test_parsed_by_turns);
        tcase_add_test(tcase, test_pieces);
        tcase_add_test(tcase, test_visibility);
        suite_add_tcase(suite, tcase);
        return suite;
}
