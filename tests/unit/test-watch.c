/* SPDX-License-Identifier: MIT */

/*
 * Events: the events for a watching client, their order, and their handling if the client does not
 * read in time.
 */

#include "query/query-connection.h"
#include "query/watch.h"

#include "support/script.h"
#include "support/suite.h"

#include <jansson.h>
#include <string.h>

typedef struct World {
        Tracker *tracker;
        Watch *watch;
} World;

static void on_body(void *data, const Process *process, const Body *body, bool is_end)
{
        watch_note_body(((World *)data)->watch, process, body, is_end);
}

static void on_epoch(void *data, const Process *process)
{
        watch_note_epoch(((World *)data)->watch, process);
}

static void observe(World *world)
{
        const TrackerObserver observer = {on_body, on_epoch, world};

        tracker_observe(world->tracker, &observer);
}

static void world_init(World *world, const char *script, const Viewer *viewer,
                       const ProcessFilter *filter)
{
        world->tracker = script_tracker(script);
        world->watch = watch_new(world->tracker, viewer, filter);
        observe(world);
}

static void world_deinit(World *world)
{
        watch_free(world->watch);
        tracker_free(world->tracker);
}

static const char *member(const json_t *object, const char *name)
{
        const char *text = json_string_value(json_object_get(object, name));

        return text ? text : "-";
}

/* Returns "event PID.GENERATION NAME" for each, epochs with "new" if higher than all before; ";"
 * separates replies. */
static char *say(const GString *out)
{
        g_autoptr(GString) text = g_string_new(NULL);
        json_int_t last = 0;
        size_t at, i;

        for (at = 0; at < out->len; at += strlen(out->str + at) + 1) {
                json_t *reply = json_loads(out->str + at, 0, NULL), *event;
                const json_t *events =
                        json_object_get(json_object_get(reply, "parameters"), "events");

                ck_assert(json_is_array(events));
                ck_assert(json_is_true(json_object_get(reply, "continues")));
                if (at)
                        g_string_append(text, "; ");
                json_array_foreach((json_t *)events, i, event)
                {
                        const char *kind = member(event, "event");
                        const json_t *method = json_object_get(event, "method");
                        json_int_t epoch = json_integer_value(json_object_get(event, "epoch"));

                        g_string_append_printf(text, "%s%s", i ? ", " : "", kind);
                        if (json_object_get(event, "pid"))
                                g_string_append_printf(
                                        text, " %d.%d",
                                        (int)json_integer_value(json_object_get(event, "pid")),
                                        (int)json_integer_value(
                                                json_object_get(event, "generation")));
                        if (method)
                                g_string_append_printf(text, " %s %s-%s", member(method, "name"),
                                                       member(event, "loaded"),
                                                       member(event, "unloaded"));
                        if (!strcmp(kind, "epoch") && epoch > last)
                                last = epoch;
                        else if (!strcmp(kind, "epoch"))
                                g_string_append(text, " old");
                }
                json_decref(reply);
        }
        return g_string_free(g_steal_pointer(&text), FALSE);
}

static char *news(World *world)
{
        g_autoptr(GString) out = g_string_new(NULL);

        watch_flush(world->watch, false, out);
        return say(out);
}

#define BEGIN                                                                                      \
        "10 RuntimeInformationStart\n"                                                             \
        "20 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"                               \
        "commit\n"

static const struct {
        const char *first, *then, *news;
} ROWS[] = {
        {"", "", ""},
        {"", BEGIN, "load 100.1 A 0.000000020--, epoch 100.1"},
        {BEGIN, "", "epoch 100.1"},
        /* At a free address, a load changes no name. */
        {BEGIN, "30 MethodLoadVerbose_V1 id=2 start=0x2000 size=16 name=B\ncommit\n",
         "epoch 100.1; load 100.1 B 0.000000030--"},
        {BEGIN, "30 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=A\ncommit\n",
         "epoch 100.1; unload 100.1 A 0.000000020-0.000000030, epoch 100.1"},
        /* The unload was lost; the body ends before the load that replaces it. */
        {BEGIN, "30 MethodLoadVerbose_V1 id=2 start=0x1008 size=16 name=B\ncommit\n",
         "epoch 100.1; unload 100.1 A 0.000000020-0.000000030, load 100.1 B 0.000000030--, "
         "epoch 100.1"},
        /* A body that is already over when it becomes known. */
        {BEGIN, "30 MethodUnloadVerbose_V1 id=2 start=0x2000 size=16 name=B\ncommit\n",
         "epoch 100.1; load 100.1 B --0.000000030"},
        {BEGIN, "30 ModuleUnload_V2 module=0x77\ncommit\n", "epoch 100.1"},
        {"10 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=A module=0x77\ncommit\n",
         "30 ModuleUnload_V2 module=0x77\ncommit\n",
         "epoch 100.1; unload 100.1 A 0.000000010-0.000000030, epoch 100.1"},
        /* One epoch for all events of a batch; none before the end of the batch. */
        {BEGIN,
         "30 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=A\n"
         "31 MethodLoadVerbose_V1 id=2 start=0x1000 size=16 name=B\n"
         "32 MethodUnloadVerbose_V1 id=2 start=0x1000 size=16 name=B\n"
         "commit\n",
         "epoch 100.1; unload 100.1 A 0.000000020-0.000000030, load 100.1 B 0.000000031--, "
         "unload 100.1 B 0.000000031-0.000000032, epoch 100.1"},
        {BEGIN, "30 MethodUnloadVerbose_V1 id=1 start=0x1000 size=16 name=A\n",
         "epoch 100.1; unload 100.1 A 0.000000020-0.000000030"},
        /* Another program reuses the pid: an event, although no body of the first has ended. */
        {BEGIN,
         "2000000000 RuntimeInformationStart\n"
         "2000000001 MethodLoadVerbose_V1 id=1 start=0x1000 size=16 name=B\n"
         "commit\n",
         "epoch 100.1; load 100.2 B 2.000000001--, epoch 100.2"},
        /* Other processes, which the client does not watch. */
        {BEGIN "30 MethodLoadVerbose_V1 pid=101 id=1 start=0x1000 size=16 name=C\ncommit\n",
         "40 MethodUnloadVerbose_V1 pid=101 id=1 start=0x1000 size=16 name=C\ncommit\n",
         "epoch 100.1"},
};

START_TEST(test_news)
{
        World world;
        const char *then = ROWS[_i].then;
        g_autofree char *before = NULL, *after = NULL, *all = NULL, *nothing = NULL;

        world_init(&world, ROWS[_i].first, &(Viewer){.sees_all = true},
                   &(ProcessFilter){.has_pid = true, .pid = 100});
        before = news(&world);
        script_go_on(world.tracker, then);
        after = news(&world);
        all = g_strconcat(before, *before && *after ? "; " : "", after, NULL);
        ck_assert_str_eq(all, ROWS[_i].news);
        nothing = news(&world);
        ck_assert_str_eq(nothing, "");
        world_deinit(&world);
}
END_TEST

/* The first reply comes at once, also without events. */
START_TEST(test_first)
{
        g_autoptr(GString) out = g_string_new(NULL);
        World world;

        world_init(&world, "", &(Viewer){.sees_all = true}, &(ProcessFilter){0});
        watch_flush(world.watch, false, out);
        ck_assert_str_eq(out->str, "{\"parameters\":{\"events\":[]},\"continues\":true}");
        ck_assert_uint_eq(out->len, strlen(out->str) + 1);
        watch_flush(world.watch, false, out);
        ck_assert_uint_eq(out->len, strlen(out->str) + 1);
        world_deinit(&world);
}
END_TEST

/* Streams of scripts are in the buffers of user 1000. */
static const struct {
        Viewer viewer;
        ProcessFilter filter;
        const char *news;
} FILTERS[] = {
        {{.sees_all = true}, {0}, "epoch 100.1, epoch 101.1; load 100.1 X 0.000000040--"},
        {{.uid = 1000}, {0}, "epoch 100.1, epoch 101.1; load 100.1 X 0.000000040--"},
        {{.uid = 1001}, {0}, ""},
        {{.sees_all = true}, {.has_pid = true, .pid = 101}, "epoch 101.1"},
        {{.sees_all = true}, {.has_pid = true, .pid = 100, .has_pid_ns = true, .pid_ns = 5}, ""},
        {{.sees_all = true},
         {.has_pid = true, .pid = 100, .has_pid_ns = true},
         "epoch 100.1; load 100.1 X 0.000000040--"},
};

START_TEST(test_filter)
{
        World world;
        g_autofree char *before = NULL, *after = NULL, *all = NULL;

        world_init(&world,
                   BEGIN "30 MethodLoadVerbose_V1 pid=101 id=1 start=0x1000 size=16 name=C\ncommit",
                   &FILTERS[_i].viewer, &FILTERS[_i].filter);
        before = news(&world);
        script_go_on(world.tracker, "40 MethodLoadVerbose_V1 id=4 start=0x4000 size=16 name=X\n");
        after = news(&world);
        all = g_strconcat(before, *after ? "; " : "", after, NULL);
        ck_assert_str_eq(all, FILTERS[_i].news);
        world_deinit(&world);
}
END_TEST

static void append_loads(GString *script, unsigned time, unsigned n)
{
        unsigned i;

        g_string_truncate(script, 0);
        for (i = 0; i < n; i++)
                g_string_append_printf(script,
                                       "%u MethodLoadVerbose_V1 id=%u start=%u size=16 name=M\n",
                                       time + i, time + i, 0x100000 + 0x10 * (time + i));
        g_string_append(script, "commit\n");
}

/* A full queue: events are lost. The next reply says so once, with the state. */
START_TEST(test_resync)
{
        g_autoptr(GString) out = g_string_new(NULL), script = g_string_new(NULL);
        g_autofree char *first = NULL, *got = NULL, *after = NULL;
        World world;

        world_init(&world, BEGIN, &(Viewer){.sees_all = true}, &(ProcessFilter){0});
        first = news(&world);
        append_loads(script, 100, 50);
        script_go_on(world.tracker, script->str);
        watch_flush(world.watch, true, out);
        ck_assert_uint_eq(out->len, 0);
        append_loads(script, 200, 50);
        script_go_on(world.tracker, script->str);
        watch_flush(world.watch, true, out);
        ck_assert_uint_eq(out->len, 0);
        got = news(&world);
        ck_assert_str_eq(got, "resync, epoch 100.1");
        script_go_on(world.tracker, "400 MethodLoadVerbose_V1 id=4 start=0x4000 size=16 name=X\n");
        after = news(&world);
        ck_assert_str_eq(after, "load 100.1 X 0.000000400--");
        world_deinit(&world);
}
END_TEST

/* A full queue without new events: no loss. */
START_TEST(test_no_resync)
{
        g_autoptr(GString) out = g_string_new(NULL);
        g_autofree char *first = NULL, *got = NULL;
        World world;

        world_init(&world, BEGIN, &(Viewer){.sees_all = true}, &(ProcessFilter){0});
        first = news(&world);
        watch_flush(world.watch, true, out);
        got = news(&world);
        ck_assert_str_eq(got, "");
        world_deinit(&world);
}
END_TEST

/* More events at once than a reply can have. */
START_TEST(test_too_many)
{
        g_autoptr(GString) script = g_string_new(NULL);
        g_autofree char *first = NULL, *got = NULL, *after = NULL;
        World world;

        world_init(&world, BEGIN, &(Viewer){.sees_all = true}, &(ProcessFilter){0});
        first = news(&world);
        append_loads(script, 100, 5000);
        script_go_on(world.tracker, script->str);
        got = news(&world);
        ck_assert_str_eq(got, "resync, epoch 100.1");
        after = news(&world);
        ck_assert_str_eq(after, "");
        world_deinit(&world);
}
END_TEST

/* The state always fits into a reply, and later changes are events. */
START_TEST(test_many_processes)
{
        g_autoptr(GString) script = g_string_new(NULL), out = g_string_new(NULL);
        g_autofree char *got = NULL;
        World world;
        unsigned pid, i;

        for (pid = 1; pid <= 20000; pid++)
                g_string_append_printf(
                        script, "10 MethodLoadVerbose_V1 pid=%u id=1 start=0x1000 size=16 name=A\n",
                        pid);
        world_init(&world, script->str, &(Viewer){.sees_all = true}, &(ProcessFilter){0});
        for (i = 0; i < 2; i++) {
                g_string_truncate(out, 0);
                watch_flush(world.watch, false, out);
                ck_assert_uint_gt(out->len, 1 << 20);
                ck_assert(!!strstr(out->str, "resync") == (i == 1));
                g_free(got);
                got = news(&world);
                ck_assert_str_eq(got, "");
                script_go_on(world.tracker,
                             i ? "30 MethodLoadVerbose_V1 id=3 start=0x3000 size=16 name=Y\n"
                               : "20 MethodLoadVerbose_V1 id=2 start=0x2000 size=16 name=X\n");
                if (i == 0)
                        watch_flush(world.watch, true, out);
        }
        g_free(got);
        got = news(&world);
        ck_assert_str_eq(got, "load 100.1 Y 0.000000030--");
        world_deinit(&world);
}
END_TEST

/* A whole session: after the call it reads nothing, and it drops unsent events at the end. */
START_TEST(test_session)
{
        static const char CALL[] =
                "{\"method\":\"org.clrsym.Symbolizer.Watch\",\"more\":true}\0noise";
        Tracker *tracker = script_tracker(BEGIN);
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        QueryConnection *session = query_connection_new(&context);
        GString *output = query_connection_output(session);
        const Process *process = tracker_processes(tracker)->pdata[0];
        const Body *body = codemap_body(process->map, 0);
        g_autofree char *first = NULL, *got = NULL;
        unsigned i;

        query_connection_feed(session, (const uint8_t *)CALL, sizeof(CALL));
        while (query_connection_run(session, 0) == 0)
                ;
        ck_assert(query_connection_is_watching(session) && !query_connection_is_over(session));
        ck_assert(!query_connection_is_partial(session) && query_connection_wants_input(session));
        first = say(output);
        ck_assert_str_eq(first, "epoch 100.1");
        g_string_truncate(output, 0);
        for (i = 0; i < 100000; i++) {
                query_connection_note_body(session, process, body, false);
                if (i % 100 == 0)
                        query_connection_run(session, 0);
                ck_assert_uint_lt(output->len, 6 << 20);
        }
        query_connection_run(session, 0);
        ck_assert_uint_gt(output->len, QUERY_MAX_OUTPUT);
        g_string_truncate(output, 0);
        query_connection_run(session, 0);
        got = say(output);
        ck_assert_str_eq(got, "resync, epoch 100.1");
        query_connection_free(session);
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("watch");
        TCase *tcase = tcase_create("watch");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_news, 0, G_N_ELEMENTS(ROWS));
        tcase_add_test(tcase, test_first);
        tcase_add_loop_test(tcase, test_filter, 0, G_N_ELEMENTS(FILTERS));
        tcase_add_test(tcase, test_resync);
        tcase_add_test(tcase, test_no_resync);
        tcase_add_test(tcase, test_too_many);
        tcase_add_test(tcase, test_many_processes);
        tcase_add_test(tcase, test_session);
        suite_add_tcase(suite, tcase);
        return suite;
}
