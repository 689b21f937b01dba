/* SPDX-License-Identifier: MIT */

/*
 * The method that an IL stub is made for: one script for each rule. In case of doubt the answer has
 * no method, because a wrong method is worse.
 */

#include "tracker/checkpoint.h"

#include "support/script.h"
#include "support/suite.h"

#define START "1 RuntimeInformationStart\n"
#define STUB(time, method, name)                                                                   \
#time " ILStubGenerated StubMethodID=" #method " module=5 ManagedInteropMethodNamespace=N" \
              ".T ManagedInteropMethodName=" name " ManagedInteropMethodSignature=int32(string)\n"
#define BODY(method, place)                                                                        \
        " id=" #method " start=" #place " size=64 module=5 ns=dynamicClass name=IL_STUB_PInvoke\n"
#define LOAD(time, method, place)   #time " MethodLoadVerbose_V1" BODY(method, place)
#define UNLOAD(time, method, place) #time " MethodUnloadVerbose_V1" BODY(method, place)
#define ROW(time, method, place)                                                                   \
#time " DotNETRuntimeRundown:MethodDCEndVerbose_V1" BODY(method, place)

static const char *text_of(const Strtab *names, Str str)
{
        return str ? strtab_text(names, str) : "-";
}

/* Returns "N.T Read int32(string)"; "": a body without a known target; NULL: no body. */
static char *target_at(const Tracker *tracker, uint64_t address, uint64_t time)
{
        const Viewer viewer = {.sees_all = true};
        const Question question = {.pid = 100, .address = address, .has_time = true, .time = time};
        const StubTarget *target;
        char *text = NULL;
        Answer answer;

        answer_question(tracker, &viewer, &question, &answer);
        if (answer.body) {
                const Strtab *names = answer.process->names;

                target = codemap_stub_target(answer.process->map, answer.body);
                text = !target ? g_strdup("")
                               : g_strjoin(" ", text_of(names, target->name_space),
                                           text_of(names, target->name),
                                           text_of(names, target->signature), NULL);
        }
        answer_clear(&answer);
        return text;
}

static void check_target(const Tracker *tracker, uint64_t address, uint64_t time, const char *name)
{
        g_autofree char *got = target_at(tracker, address, time);
        g_autofree char *want =
                *name ? g_strconcat("N.T ", name, " int32(string)", NULL) : g_strdup("");

        ck_assert_ptr_nonnull(got);
        ck_assert_str_eq(got, want);
}

static const struct {
        const char *script;
        struct {
                uint64_t address, time;
                const char *name; /* "": no name */
        } checks[3];
} RULES[] = {
        /* The event of the stub, then the load of the stub. */
        {START STUB(10, 0x7, "Read") LOAD(20, 0x7, 0x1000), {{0x1000, 20, "Read"}}},
        /* Events of other stubs and other threads in between. */
        {START STUB(10, 0x7, "Read") STUB(11, 0x8, "Write") LOAD(20, 0x8, 0x2000)
                 LOAD(30, 0x7, 0x1000),
         {{0x1000, 30, "Read"}, {0x2000, 30, "Write"}}},
        /* The event comes again, without a load: the loaded stub keeps its target. */
        {START STUB(10, 0x7, "Read") LOAD(20, 0x7, 0x1000) UNLOAD(30, 0x7, 0x1000) "progress 40\n",
         {{0x1000, 25, "Read"}}},

        /* A reused id, for a stub without an event. */
        {START STUB(10, 0x7, "Read") LOAD(20, 0x7, 0x1000) UNLOAD(30, 0x7, 0x1000)
                 LOAD(40, 0x7, 0x1000),
         {{0x1000, 20, "Read"}, {0x1000, 40, ""}}},
        /* A reused id; the unload of the first stub was lost. */
        {START STUB(10, 0x7, "Read") LOAD(20, 0x7, 0x1000) LOAD(40, 0x7, 0x3000),
         {{0x1000, 20, "Read"}, {0x3000, 40, ""}}},
        /* A reused id, for a stub with an event. */
        {START STUB(10, 0x7, "Read") LOAD(20, 0x7, 0x1000) UNLOAD(30, 0x7, 0x1000)
                 STUB(35, 0x7, "Write") LOAD(40, 0x7, 0x1000),
         {{0x1000, 20, "Read"}, {0x1000, 40, "Write"}}},
        /* A reused id, before the first stub was loaded. */
        {START STUB(10, 0x7, "Read") STUB(11, 0x7, "Write") LOAD(20, 0x7, 0x1000),
         {{0x1000, 20, "Write"}}},
        {START STUB(10, 0x7, "Read") "11 ILStubGenerated StubMethodID=0x7 module=5\n" LOAD(20, 0x7,
                                                                                           0x1000),
         {{0x1000, 20, ""}}},
        {START STUB(10, 0x7, "Read") UNLOAD(15, 0x7, 0x1000) LOAD(20, 0x7, 0x1000),
         {{0x1000, 20, ""}}},
        {START STUB(10, 0x7, "Read") "15 MethodUnload id=7 start=0x9000 size=64\n" LOAD(20, 0x7,
                                                                                        0x1000),
         {{0x1000, 20, ""}}},
        {START STUB(10, 0x7, "Read") "15 ModuleUnload_V2 module=5\n" LOAD(20, 0x7, 0x1000),
         {{0x1000, 20, ""}}},
        {START "2 ModuleLoad_V2 module=5 path=/a.dll\n" STUB(
                 10, 0x7, "Read") "15 ModuleLoad_V2 module=5 path=/b.dll\n" LOAD(20, 0x7, 0x1000),
         {{0x1000, 20, ""}}},
        /* The unload of another module does not affect the stub. */
        {START STUB(10, 0x7, "Read") "15 ModuleUnload_V2 module=6\n" LOAD(20, 0x7, 0x1000),
         {{0x1000, 20, "Read"}}},
        /* Another method has the id now; a later stub with the id is another stub, too. */
        {START STUB(10, 0x7, "Read") "20 MethodLoadVerbose_V1 id=7 start=0x1000 size=64 module=5 "
                                     "ns=N name=Other\n" LOAD(30, 0x7, 0x2000),
         {{0x1000, 20, ""}, {0x2000, 30, ""}}},
        {START STUB(10, 0x7,
                    "Read") "20 MethodLoadVerbose_V1 id=7 start=0x1000 size=64 module=5 ns=N "
                            "name=IL_STUB_PInvoke\n",
         {{0x1000, 20, ""}}},
        {START STUB(10, 0x7, "Read") "20 MethodLoadVerbose_V1 id=7 start=0x1000 size=64 module=5 "
                                     "ns=dynamicClass "
                                     "name=IL_STUB_UnboxingStub\n",
         {{0x1000, 20, ""}}},
        {START STUB(10, 0x7, "Read") "20 MethodLoadVerbose_V1 id=7 start=0x1000 size=64 module=6 "
                                     "ns=dynamicClass "
                                     "name=IL_STUB_PInvoke\n",
         {{0x1000, 20, ""}}},
        {START STUB(10, 0x7, "Read") "20 MethodLoad_V1 id=7 start=0x1000 size=64 module=5\n",
         {{0x1000, 20, ""}}},

        /* Caller and callee: the event and the stub's name agree. */
        {START "10 ILStubGenerated StubMethodID=7 module=5 StubFlags=9 "
               "ManagedInteropMethodNamespace=N.T ManagedInteropMethodName=Invoke "
               "ManagedInteropMethodSignature=int32(string)\n"
               "20 MethodLoadVerbose_V1 id=7 start=0x1000 size=64 module=5 ns=dynamicClass "
               "name=IL_STUB_ReversePInvoke\n",
         {{0x1000, 20, "Invoke"}}},
        {START "10 ILStubGenerated StubMethodID=7 module=5 StubFlags=9 "
               "ManagedInteropMethodName=Invoke\n" LOAD(20, 0x7, 0x1000),
         {{0x1000, 20, ""}}},
        {START "10 ILStubGenerated StubMethodID=7 module=5 StubFlags=0x40 "
               "ManagedInteropMethodName=Invoke\n" LOAD(20, 0x7, 0x1000),
         {{0x1000, 20, ""}}},

        /* Lost events in between can include the stub's unload, and the event of the next stub. */
        {START STUB(10, 0x7, "Read") "gap 12 14 3\n" LOAD(20, 0x7, 0x1000), {{0x1000, 20, ""}}},
        {START "gap 2 5 3\n" STUB(10, 0x7, "Read") LOAD(20, 0x7, 0x1000), {{0x1000, 20, "Read"}}},

        /* Two sessions trace the process and record the same events. */
        {START STUB(10, 0x7, "Read") "10: " STUB(11, 0x7, "Read") LOAD(20, 0x7, 0x1000) "10: " LOAD(
                 21, 0x7, 0x1000) UNLOAD(30, 0x7, 0x1000) LOAD(40, 0x7, 0x1000),
         {{0x1000, 20, "Read"}, {0x1000, 40, ""}}},
        /* The load was known from a session without the event. */
        {START LOAD(20, 0x7, 0x1000) "10: " STUB(20, 0x7, "Read") "10: " LOAD(21, 0x7, 0x1000),
         {{0x1000, 21, "Read"}}},
        /* A lagging session: its event can belong to a stub that is gone. */
        {START LOAD(20, 0x7, 0x1000) UNLOAD(30, 0x7, 0x1000) "10: " STUB(10, 0x7, "Read")
                 LOAD(40, 0x7, 0x2000),
         {{0x1000, 20, ""}, {0x2000, 40, ""}}},
        /* A body that was loaded before the event is not the event's stub. */
        {START STUB(10, 0x7, "Read") "10: " LOAD(5, 0x7, 0x2000) LOAD(20, 0x7, 0x1000),
         {{0x2000, 5, ""}, {0x1000, 20, "Read"}}},

        /* Another program has the pid, with ids of its own. */
        {START STUB(10, 0x7, "Read") "5000000000 RuntimeInformationStart\n" LOAD(5000000001, 0x7,
                                                                                 0x1000),
         {{0x1000, 5000000001, ""}}},

        /* A late unload of a stub that was seen after it: both lives have the target. */
        {START STUB(10, 0x7, "Read") LOAD(20, 0x7, 0x1000)
                 ROW(50, 0x7, 0x1000) "10: " UNLOAD(30, 0x7, 0x1000),
         {{0x1000, 25, "Read"}, {0x1000, 55, "Read"}}},
};

static void check_rule(const Tracker *tracker, unsigned i)
{
        size_t k;

        for (k = 0; k < G_N_ELEMENTS(RULES[i].checks) && RULES[i].checks[k].name; k++)
                check_target(tracker, RULES[i].checks[k].address, RULES[i].checks[k].time,
                             RULES[i].checks[k].name);
}

static bool append(void *data, const uint8_t *bytes, size_t n)
{
        g_byte_array_append(data, bytes, (guint)n);
        return true;
}

/* Returns a tracker made from an image of TRACKER, and frees TRACKER. */
static Tracker *restart(Tracker *tracker)
{
        g_autoptr(GByteArray) image = g_byte_array_new(), again = g_byte_array_new();
        Tracker *next = tracker_new();
        CheckpointReader *reader = checkpoint_reader_new(next);

        ck_assert(checkpoint_write(tracker, append, image));
        ck_assert(checkpoint_reader_take(reader, image->data, image->len));
        ck_assert(checkpoint_reader_finish(reader));
        ck_assert(checkpoint_write(next, append, again));
        ck_assert_uint_eq(image->len, again->len);
        ck_assert_mem_eq(image->data, again->data, image->len);
        tracker_free(tracker);
        return next;
}

START_TEST(test_rule)
{
        Tracker *tracker = script_tracker(RULES[_i].script);

        check_rule(tracker, (unsigned)_i);
        tracker = restart(tracker);
        check_rule(tracker, (unsigned)_i);
        tracker_free(tracker);
}
END_TEST

/* A restart between the event and the load of a stub. */
START_TEST(test_restart_before_load)
{
        Tracker *tracker = restart(script_tracker(START STUB(10, 0x7, "Read")));

        script_go_on(tracker, LOAD(20, 0x7, 0x1000));
        check_target(tracker, 0x1000, 20, "Read");
        tracker_free(tracker);
}
END_TEST

/* The epoch changes whenever an earlier answer changes. */
START_TEST(test_epoch)
{
        Tracker *tracker = script_tracker(START LOAD(20, 0x7, 0x1000));
        const Process *process = tracker_process(tracker, &(ProcessKey){0, 100});
        uint64_t epoch = codemap_epoch(process->map);

        script_go_on(tracker, STUB(30, 0x8, "Read") LOAD(40, 0x8, 0x2000));
        check_target(tracker, 0x2000, 40, "Read");
        ck_assert_uint_eq(codemap_epoch(process->map), epoch);
        script_go_on(tracker, "10: " STUB(40, 0x7, "Read") "10: " LOAD(41, 0x7, 0x1000));
        check_target(tracker, 0x1000, 41, "Read");
        ck_assert_uint_ne(codemap_epoch(process->map), epoch);
        tracker_free(tracker);
}
END_TEST

/* Targets are accounted, until the stub is known to be never loaded, or its body is evicted. */
START_TEST(test_account)
{
        /* The other name lets the table of names reach its size. */
        Tracker *tracker = script_tracker(START "2 ModuleLoad_V2 module=6 path=/a.dll\n");
        const Budget *budget = tracker_budget(tracker);
        size_t n_bytes = budget->account->n_bytes, n_strings = strtab_n_strings(budget->names);

        script_go_on(tracker, STUB(10, 0x7, "Read"));
        ck_assert_uint_gt(budget->account->n_bytes, n_bytes + sizeof(StubTarget));
        ck_assert_uint_eq(strtab_n_strings(budget->names), n_strings + 3);
        script_go_on(tracker, "11 ILStubGenerated StubMethodID=7\n");
        ck_assert_uint_eq(budget->account->n_bytes, n_bytes);
        ck_assert_uint_eq(strtab_n_strings(budget->names), n_strings);

        script_go_on(tracker, STUB(20, 0x7, "Read") LOAD(21, 0x7, 0x1000) UNLOAD(22, 0x7, 0x1000));
        ck_assert_uint_gt(strtab_n_strings(budget->names), n_strings + 3);
        tracker_set_budget(tracker, 1);
        ck_assert_uint_eq(budget->n_bodies, 1);
        ck_assert_uint_eq(strtab_n_strings(budget->names), n_strings);
        tracker_free(tracker);
}
END_TEST

/* Memory for stubs that are never loaded is bounded. */
START_TEST(test_flood)
{
        Tracker *tracker = script_tracker(START);
        const Budget *budget = tracker_budget(tracker);
        size_t n_most = 0, n_before = budget->account->n_bytes;
        unsigned i;

        for (i = 1; i <= 5000; i++) {
                g_autofree char *line =
                        g_strdup_printf("%u ILStubGenerated StubMethodID=%u module=5 "
                                        "ManagedInteropMethodName=Read\n",
                                        10 + i, i);

                script_go_on(tracker, line);
                n_most = MAX(n_most, budget->account->n_bytes - n_before);
        }
        ck_assert_uint_lt(n_most, 256 * 1024);
        script_go_on(tracker, "6000 MethodLoadVerbose_V1 id=5000 start=0x1000 size=64 module=5 "
                              "ns=dynamicClass name=IL_STUB_PInvoke\n");
        {
                g_autofree char *got = target_at(tracker, 0x1000, 6000);

                ck_assert_str_eq(got, "- Read -");
        }
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("stub");
        TCase *tcase = tcase_create("stub");

        tcase_add_loop_test(tcase, test_rule, 0, G_N_ELEMENTS(RULES));
        tcase_add_test(tcase, test_restart_before_load);
        tcase_add_test(tcase, test_epoch);
        tcase_add_test(tcase, test_account);
        tcase_add_test(tcase, test_flood);
        suite_add_tcase(suite, tcase);
        return suite;
}
