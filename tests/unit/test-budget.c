/* SPDX-License-Identifier: MIT */

/*
 * Which data is evicted when the memory budget is used up, in which order, and the answers after
 * the eviction.
 */

#include "tracker/answer.h"

#include "support/suite.h"

#include <string.h>

enum { LIMIT = 6 << 20, PID = 100 };

static const Viewer ALL = {.sees_all = true};

typedef struct World {
        Tracker *tracker;
        TrackerStream *stream;
        uint64_t time;
} World;

static TrackerStream *stream_of(Tracker *tracker, uint8_t trace, uint32_t uid)
{
        StreamIdentity *identity = stream_identity_new();
        TrackerStream *stream;

        identity->trace_uuid[0] = trace;
        identity->scheme = BUFFER_SCHEME_PER_UID;
        identity->uid = uid;
        stream = tracker_stream_open(tracker, identity);
        stream_identity_free(identity);
        return stream;
}

static World world_new(void)
{
        World world = {.tracker = tracker_new(), .time = 1000};

        world.stream = stream_of(world.tracker, 1, 0);
        tracker_set_budget(world.tracker, LIMIT);
        return world;
}

static void put(Record *record, FieldName name, uint64_t u)
{
        record->values[event_field(record->event, name)].u = u;
}

static void put_text(Record *record, FieldName name, const char *text)
{
        Value *value = &record->values[event_field(record->event, name)];

        value->data = (const uint8_t *)text;
        value->n = (uint32_t)strlen(text);
}

static void emit(World *world, Record *record)
{
        const Budget *budget = tracker_budget(world->tracker);

        record->time = world->time++;
        tracker_apply_record(world->tracker, world->stream, record);
        tracker_apply_progress(world->tracker, world->stream, world->time);
        ck_assert_uint_le(budget->account->n_bytes, budget->limit);
}

static void method(World *world, const char *event, int32_t pid, uint64_t start, uint32_t size,
                   uint64_t n)
{
        Record record = {.event = event_by_name(event), .process = {0, pid}, .tid = pid};
        char name[32];

        g_snprintf(name, sizeof(name), "M%" G_GUINT64_FORMAT, (guint64)n);
        put(&record, FIELD_MethodID, n);
        put(&record, FIELD_MethodStartAddress, start);
        put(&record, FIELD_MethodSize, size);
        put_text(&record, FIELD_MethodNamespace, "N");
        put_text(&record, FIELD_MethodName, name);
        put_text(&record, FIELD_MethodSignature, "void  ()");
        emit(world, &record);
}

#define LOAD   "DotNETRuntime:MethodLoadVerbose_V1"
#define UNLOAD "DotNETRuntime:MethodUnloadVerbose_V1"

static void plain(World *world, const char *event, int32_t pid)
{
        Record record = {.event = event_by_name(event), .process = {0, pid}, .tid = pid};
        unsigned i;

        for (i = 0; i < record.event->n_fields; i++)
                record.values[i].data = (const uint8_t *)"";
        emit(world, &record);
}

static void il_map(World *world, int32_t pid, uint64_t n)
{
        static uint8_t offsets[4 * 1000];
        Record record = {.event = event_by_name("DotNETRuntime:MethodILToNativeMap_V1"),
                         .process = {0, pid}};
        size_t i;

        for (i = 0; i < sizeof(offsets); i++)
                offsets[i] = (uint8_t)(i * 37);
        put(&record, FIELD_MethodID, n);
        record.values[event_field(record.event, FIELD_ILOffsets)] =
                (Value){.data = offsets, .n = 1000};
        record.values[event_field(record.event, FIELD_NativeOffsets)] =
                (Value){.data = offsets, .n = 1000};
        emit(world, &record);
}

static AnswerStatus ask(const World *world, int32_t pid, uint64_t address, uint64_t time,
                        Confidence *ret_confidence)
{
        const Question question = {
                .pid = pid, .address = address, .has_time = time != 0, .time = time};
        AnswerStatus status;
        Answer answer;

        answer_question(world->tracker, &ALL, &question, &answer);
        status = answer.status;
        if (ret_confidence)
                *ret_confidence = answer.confidence;
        answer_clear(&answer);
        return status;
}

/* Bodies come and go: the oldest dead bodies are evicted, and queries about them give "evicted". */
START_TEST(test_churn)
{
        World world = world_new();
        uint64_t first_time, i;

        plain(&world, "DotNETRuntime:RuntimeInformationStart", PID);
        method(&world, LOAD, PID, 0x500000, 64, 1);
        first_time = world.time;
        for (i = 0; i < 200000; i++) {
                uint64_t start = 0x10000 + i % 1000 * 0x40;

                method(&world, LOAD, PID, start, 32 + i % 7, 10 + i);
                if (i % 50)
                        method(&world, UNLOAD, PID, start, 32 + i % 7, 10 + i);
                if (i == 500)
                        ck_assert_int_eq(ask(&world, PID, 0x10000, first_time, NULL), ANSWER_OK);
        }
        ck_assert_uint_gt(tracker_budget(world.tracker)->n_bodies, 100000);
        ck_assert_int_eq(ask(&world, PID, 0x10000, first_time, NULL), ANSWER_EVICTED);
        ck_assert_int_eq(ask(&world, PID, 0x10001, 0, NULL), ANSWER_OK);
        ck_assert_int_eq(ask(&world, PID, 0x10041, 0, NULL), ANSWER_AMBIGUOUS);
        /* Living bodies stay, however old, and answers about them are right for any time. */
        ck_assert_int_eq(ask(&world, PID, 0x500000, first_time, NULL), ANSWER_OK);
        ck_assert_int_eq(ask(&world, PID, 0x600000, world.time - 1, NULL), ANSWER_NO_METHOD);
        ck_assert_int_eq(ask(&world, PID, 0x600000, first_time, NULL), ANSWER_EVICTED);
        /* After eviction, the address may have had other bodies. */
        method(&world, LOAD, PID, 0x700000, 64, 2);
        method(&world, UNLOAD, PID, 0x700000, 64, 2);
        ck_assert_int_eq(ask(&world, PID, 0x700000, 0, NULL), ANSWER_EVICTED);
        tracker_free(world.tracker);
}
END_TEST

START_TEST(test_finished_first)
{
        World world = world_new();
        Confidence confidence;
        uint64_t i;

        plain(&world, "DotNETRuntime:RuntimeInformationStart", 7);
        method(&world, LOAD, 7, 0x1000, 64, 1);
        plain(&world, "DotNETRuntime:AppDomainUnload_V1", 7);
        plain(&world, "DotNETRuntime:RuntimeInformationStart", PID);
        method(&world, LOAD, PID, 0x1000, 64, 1);
        method(&world, UNLOAD, PID, 0x1000, 64, 1);
        for (i = 0; tracker_budget(world.tracker)->n_processes == 0 && i < 100000; i++)
                method(&world, LOAD, PID, 0x10000 + i * 0x40, 32, 10 + i);
        ck_assert_uint_eq(tracker_budget(world.tracker)->n_processes, 1);
        ck_assert_int_eq(ask(&world, 7, 0x1000, 0, NULL), ANSWER_EVICTED);
        ck_assert_int_eq(ask(&world, PID, 0x1000, 1004, &confidence), ANSWER_OK);
        ck_assert_int_eq(confidence, CONFIDENCE_EXACT);
        tracker_free(world.tracker);
}
END_TEST

/* A smaller budget takes effect at once, not with the next record; the remaining answers stay
 * right. */
START_TEST(test_smaller)
{
        World world = world_new();
        const Budget *budget = tracker_budget(world.tracker);
        uint64_t i;

        plain(&world, "DotNETRuntime:RuntimeInformationStart", 7);
        method(&world, LOAD, 7, 0x1000, 64, 1);
        plain(&world, "DotNETRuntime:AppDomainUnload_V1", 7);
        plain(&world, "DotNETRuntime:RuntimeInformationStart", PID);
        method(&world, LOAD, PID, 0x1000, 64, 1);
        for (i = 0; i < 15000; i++) {
                method(&world, LOAD, PID, 0x10000, 64, 10 + i);
                method(&world, UNLOAD, PID, 0x10000, 64, 10 + i);
        }
        ck_assert_uint_eq(budget->n_bodies, 0);
        ck_assert_uint_gt(budget->account->n_bytes, LIMIT / 6);
        tracker_set_budget(world.tracker, LIMIT / 6);
        ck_assert_uint_le(budget->account->n_bytes, LIMIT / 6);
        ck_assert_uint_eq(budget->n_processes, 1);
        ck_assert_uint_gt(budget->n_bodies, 0);
        ck_assert_int_eq(ask(&world, 7, 0x1000, 0, NULL), ANSWER_EVICTED);
        ck_assert_int_eq(ask(&world, PID, 0x10000, 1006, NULL), ANSWER_EVICTED);
        ck_assert_int_eq(ask(&world, PID, 0x1000, 0, NULL), ANSWER_OK);
        tracker_set_budget(world.tracker, LIMIT);
        method(&world, LOAD, PID, 0x10000, 64, 10);
        ck_assert_int_eq(ask(&world, PID, 0x10000, 0, NULL), ANSWER_OK);
        tracker_free(world.tracker);
}
END_TEST

START_TEST(test_living_alone)
{
        World world = world_new();
        uint64_t i, n_il_maps, refused_time, start;
        Confidence confidence;

        plain(&world, "DotNETRuntime:RuntimeInformationStart", PID);
        for (i = 0; i < 500; i++) {
                method(&world, LOAD, PID, 0x10000 + i * 0x40, 0x40, 10 + i);
                il_map(&world, PID, 10 + i);
        }
        n_il_maps = tracker_budget(world.tracker)->account->n_il_maps;
        for (; tracker_stats(world.tracker)->refused == 0 && i < 1000000; i++)
                method(&world, LOAD, PID, 0x10000 + i * 0x40, 0x40, 10 + i);
        refused_time = world.time - 1;
        start = 0x10000 + (i - 1) * 0x40;
        /* All IL maps were evicted before a body was refused. */
        ck_assert_uint_gt(n_il_maps, 0);
        ck_assert_uint_eq(tracker_budget(world.tracker)->account->n_il_maps, 0);
        /* The refused body has no name. Answers from its load on are uncertain; earlier answers are
         * not. */
        ck_assert_int_eq(ask(&world, PID, start, refused_time, &confidence), ANSWER_NO_METHOD);
        ck_assert_int_eq(confidence, CONFIDENCE_GAP);
        ck_assert_int_eq(ask(&world, PID, 0x10000, refused_time, &confidence), ANSWER_OK);
        ck_assert_int_eq(confidence, CONFIDENCE_GAP);
        ck_assert_int_eq(ask(&world, PID, 0x10000, refused_time - 1, &confidence), ANSWER_OK);
        ck_assert_int_eq(confidence, CONFIDENCE_EXACT);
        /* A load over a living body ends that body, also if there is no room for the new body. */
        method(&world, LOAD, PID, 0x10010, 0x10, 5);
        ck_assert_int_ne(ask(&world, PID, 0x10000, world.time - 1, NULL), ANSWER_OK);
        tracker_free(world.tracker);
}
END_TEST

/* Loads more bodies until some are refused; returns how many were loaded. */
static uint64_t load_until_refused(World *world, int32_t pid)
{
        uint64_t n_refused = tracker_stats(world->tracker)->refused, i;

        for (i = 0; tracker_stats(world->tracker)->refused < n_refused + 3 && i < 1000000; i++)
                method(world, LOAD, pid, UINT64_C(0x10000000) + world->time * 0x40, 0x40,
                       world->time);
        ck_assert_uint_lt(i, 1000000);
        return i;
}

static void end_bodies(World *world)
{
        uint64_t i;

        for (i = 0; i < 5000; i++)
                method(world, UNLOAD, PID, 0x10000 + i * 0x40, 0x40, 10 + i);
}

static void end_process(World *world)
{
        plain(world, "DotNETRuntime:AppDomainUnload_V1", PID + 1);
}

static void end_by_next_generation(World *world)
{
        plain(world, "DotNETRuntime:RuntimeInformationStart", PID + 1);
}

static void (*const ENDS[])(World *) = {end_bodies, end_process, end_by_next_generation};

/* If nothing can be evicted, the tracker does not search again for each record; once a body can be
 * evicted, it does. */
START_TEST(test_evictable_again)
{
        World world = world_new();
        uint64_t i;

        for (i = 0; i < 5000; i++) {
                method(&world, LOAD, PID, 0x10000 + i * 0x40, 0x40, 10 + i);
                method(&world, LOAD, PID + 1, 0x10000 + i * 0x40, 0x40, 10 + i);
        }
        load_until_refused(&world, PID + 2);
        ck_assert_uint_le(load_until_refused(&world, PID + 2), 3);
        ENDS[_i](&world);
        ck_assert_uint_gt(load_until_refused(&world, PID + 2), 1000);
        tracker_free(world.tracker);
}
END_TEST

/* All processes share names, and a name is freed with its last user. */
START_TEST(test_names)
{
        Account account = {0};
        Strtab *names = strtab_new(&account);
        size_t empty = account.n_bytes;
        Str first[5000], second;
        int i, j;

        for (j = 0; j < 3; j++) {
                for (i = 0; i < 5000; i++) {
                        char name[32];

                        g_snprintf(name, sizeof(name), "name %d", i);
                        first[i] = strtab_add(names, name, strlen(name));
                        second = strtab_add(names, name, strlen(name));
                        ck_assert_uint_eq(first[i], second);
                        ck_assert_str_eq(strtab_text(names, second), name);
                        strtab_unref(names, second);
                }
                ck_assert_uint_eq(strtab_n_strings(names), 5000);
                for (i = 0; i < 5000; i++)
                        strtab_unref(names, first[i * 7 % 5000]);
                ck_assert_uint_eq(strtab_n_strings(names), 0);
        }
        ck_assert_uint_lt(account.n_bytes - empty, 5000 * 64);
        strtab_free(names);
        ck_assert_uint_eq(account.n_bytes, 0);
}
END_TEST

/*
 * A flood by one user, and a small program of another user, which starts before the flood or when
 * memory is full: the data of the small program stays, and the tracker takes its new records.
 */
enum { VICTIM_UID = 1000, VICTIM = 200, N_FLOOD = 30000 };

static void flood_methods(World *world, uint64_t i)
{
        method(world, LOAD, PID, 0x10000 + i * 0x40, 32, i);
}

static void flood_dead(World *world, uint64_t i)
{
        method(world, LOAD, PID, 0x10000, 32, i);
        method(world, UNLOAD, PID, 0x10000, 32, i);
}

static void flood_processes(World *world, uint64_t i)
{
        method(world, LOAD, (int32_t)(1000 + i), 0x10000, 32, i);
}

static void flood_empty_processes(World *world, uint64_t i)
{
        plain(world, "DotNETRuntime:RuntimeInformationStart", (int32_t)(1000 + i));
}

static void flood_finished_processes(World *world, uint64_t i)
{
        flood_empty_processes(world, i);
        plain(world, "DotNETRuntime:AppDomainUnload_V1", (int32_t)(1000 + i));
}

/* Long names of unloaded methods, and names without a method. */
static void flood_names(World *world, uint64_t i)
{
        Record record = {.event = event_by_name("DotNETRuntime:MethodJittingStarted_V1"),
                         .process = {0, PID},
                         .tid = (int32_t)i + 1};
        g_autofree char *name = g_strdup_printf("%04096" G_GUINT64_FORMAT, (guint64)i);

        put(&record, FIELD_MethodID, i);
        put_text(&record, FIELD_MethodNamespace, "N");
        put_text(&record, FIELD_MethodName, name);
        put_text(&record, FIELD_MethodSignature, "S");
        emit(world, &record);
}

static void flood_modules(World *world, uint64_t i)
{
        Record record = {.event = event_by_name("DotNETRuntime:ModuleLoad_V2"),
                         .process = {0, PID}};
        g_autofree char *path = g_strdup_printf("/%0500" G_GUINT64_FORMAT, (guint64)i);
        unsigned k;

        for (k = 0; k < record.event->n_fields; k++)
                record.values[k].data = (const uint8_t *)"";
        put(&record, FIELD_ModuleID, i + 1);
        put_text(&record, FIELD_ModuleILPath, path);
        emit(world, &record);
}

static void (*const FLOODS[])(World *, uint64_t) = {
        flood_methods,
        flood_dead,
        flood_processes,
        flood_empty_processes,
        flood_finished_processes,
        flood_names,
        flood_modules,
};

static void check_victim(const World *world, uint64_t address, uint64_t time, AnswerStatus status)
{
        Confidence confidence;

        ck_assert_int_eq(ask(world, VICTIM, address, time, &confidence), status);
        ck_assert_int_eq(confidence, CONFIDENCE_EXACT);
}

START_TEST(test_share)
{
        World world = world_new();
        TrackerStream *own = stream_of(world.tracker, 2, VICTIM_UID), *flood = world.stream;
        const Budget *budget = tracker_budget(world.tracker);
        const Process *process;
        uint64_t begin, i, late = _i / G_N_ELEMENTS(FLOODS) ? N_FLOOD / 2 : 0;
        uint64_t n_refused;

        for (i = 0; i < late; i++)
                FLOODS[_i % G_N_ELEMENTS(FLOODS)](&world, i);
        world.stream = own;
        begin = world.time;
        n_refused = tracker_stats(world.tracker)->refused;
        plain(&world, "DotNETRuntime:RuntimeInformationStart", VICTIM);
        method(&world, LOAD, VICTIM, 0x1000, 64, 1);
        method(&world, LOAD, VICTIM, 0x2000, 64, 2);
        il_map(&world, VICTIM, 1);
        method(&world, UNLOAD, VICTIM, 0x2000, 64, 2);
        ck_assert_uint_eq(tracker_stats(world.tracker)->refused, n_refused);
        for (i = late; i < N_FLOOD; i++) {
                world.stream = flood;
                FLOODS[_i % G_N_ELEMENTS(FLOODS)](&world, i);
                if (i % 1000)
                        continue;
                world.stream = own;
                n_refused = tracker_stats(world.tracker)->refused;
                method(&world, LOAD, VICTIM, 0x3000 + i * 0x40, 64, 3 + i);
                ck_assert_uint_eq(tracker_stats(world.tracker)->refused, n_refused);
        }
        /* The budget was exceeded. */
        ck_assert_uint_gt(n_refused + budget->n_bodies + budget->n_processes, 100);
        tracker_apply_progress(world.tracker, own, world.time);
        check_victim(&world, 0x1000, 0, ANSWER_OK);
        check_victim(&world, 0x2000, begin + 3, ANSWER_OK);
        check_victim(&world, 0x2000, world.time - 1, ANSWER_UNLOADED);
        check_victim(&world, 0x900, world.time - 1, ANSWER_NO_METHOD);
        for (i = late; i < N_FLOOD; i += 1000)
                check_victim(&world, 0x3000 + i * 0x40, 0, ANSWER_OK);
        process = tracker_process_of(world.tracker, &(ProcessKey){0, VICTIM}, VICTIM_UID);
        ck_assert_ptr_nonnull(body_il_map(codemap_live(process->map, 0x1000)));
        ck_assert_uint_eq(codemap_whole_since(process->map), 0);
        tracker_free(world.tracker);
}
END_TEST

/* For a user whose data was evicted for another user, answers are "evicted", not "nothing
 * there". */
START_TEST(test_thinned)
{
        World world = world_new();
        TrackerStream *own = stream_of(world.tracker, 2, VICTIM_UID), *flood = world.stream;
        const Process *process;
        Confidence confidence;
        uint64_t i;

        plain(&world, "DotNETRuntime:RuntimeInformationStart", PID);
        for (i = 0; tracker_stats(world.tracker)->refused == 0; i++)
                flood_methods(&world, i);
        world.stream = own;
        plain(&world, "DotNETRuntime:RuntimeInformationStart", VICTIM);
        for (i = 0; i < 1000; i++)
                method(&world, LOAD, VICTIM, 0x10000 + i * 0x40, 32, i);
        process = tracker_process_of(world.tracker, &(ProcessKey){0, PID}, 0);
        ck_assert_uint_eq(codemap_whole_since(process->map), BODY_NOW);
        ck_assert_int_eq(ask(&world, PID, 0x10000, 1001, NULL), ANSWER_EVICTED);
        ck_assert_int_eq(ask(&world, PID, 0x10000, 0, NULL), ANSWER_EVICTED);
        ck_assert_int_eq(ask(&world, VICTIM, 0x10000, 0, &confidence), ANSWER_OK);
        ck_assert_int_eq(confidence, CONFIDENCE_EXACT);
        /* If the load of a body was evicted, the body is known only from its first observation
         * on. */
        world.stream = flood;
        method(&world, UNLOAD, PID, 0x10000, 32, 0);
        ck_assert_int_eq(ask(&world, PID, 0x10000, 1001, NULL), ANSWER_EVICTED);
        tracker_free(world.tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("budget");
        TCase *tcase = tcase_create("budget");

        tcase_set_timeout(tcase, 120);
        tcase_add_test(tcase, test_churn);
        tcase_add_test(tcase, test_finished_first);
        tcase_add_test(tcase, test_smaller);
        tcase_add_test(tcase, test_living_alone);
        tcase_add_loop_test(tcase, test_evictable_again, 0, G_N_ELEMENTS(ENDS));
        tcase_add_test(tcase, test_names);
        tcase_add_loop_test(tcase, test_share, 0, 2 * G_N_ELEMENTS(FLOODS));
        tcase_add_test(tcase, test_thinned);
        suite_add_tcase(suite, tcase);
        return suite;
}
