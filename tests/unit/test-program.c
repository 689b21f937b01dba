/* SPDX-License-Identifier: MIT */

/* The name of a process's program: from the context procname, through a feeder, to the process. */

#include "wire/ingest-connection.h"
#include "wire/ingest.h"
#include "wire/program-names.h"

#include "support/suite.h"

#include <errno.h>
#include <string.h>

enum { PID = 100, OTHER = 200 };

/* Value of all fields; 16 bytes, because no field is longer than a GUID. */
static const uint8_t NOTHING[16];

static Record make_record(const char *event, int32_t pid, int32_t tid, const char *program)
{
        Record record = {
                .event = event_by_name(event), .time = 10, .process = {7, pid}, .tid = tid};
        unsigned i;

        for (i = 0; i < record.event->n_fields; i++)
                record.values[i].data = NOTHING;
        if (program)
                record.program =
                        (Value){.data = (const uint8_t *)program, .n = (uint32_t)strlen(program)};
        return record;
}

#define LOAD  "DotNETRuntime:MethodLoadVerbose_V1"
#define START "DotNETRuntime:RuntimeInformationStart"
#define EXIT  "DotNETRuntime:AppDomainUnload_V1"

/* Contexts in order, and whether the feeder sends the name. */
static const struct {
        const char *event;
        int32_t pid, tid;
        const char *program;
        bool is_sent;
} NAMES[] = {
        {LOAD, PID, PID, NULL, false},
        {LOAD, PID, PID, "", false},
        {LOAD, PID, PID + 1, ".NET Finalizer", false}, /* name of another thread */
        {LOAD, OTHER, 0, "app", true},                 /* no thread: name of the trace */
        {LOAD, PID, PID, "dotnet", true},
        {LOAD, PID, PID, "dotnet", false},
        {LOAD, OTHER, OTHER, "dotnet", true},
        {LOAD, PID, PID, "MSBuild", true},
        {LOAD, PID, PID, "MSBuild", false},
        {EXIT, PID, PID + 1, ".NET Finalizer", false},
        {LOAD, PID, PID, "MSBuild", true}, /* possibly the name of the next program */
        {START, PID, PID, "MSBuild", true},
        {LOAD, OTHER, OTHER, "dotnet", false},
        {LOAD, OTHER, OTHER, "\xff\xfe", false}, /* not UTF-8 */
};

START_TEST(test_names)
{
        ProgramNames names = {0};
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(NAMES); i++) {
                const Record record =
                        make_record(NAMES[i].event, NAMES[i].pid, NAMES[i].tid, NAMES[i].program);

                ck_assert_msg(program_names_note(&names, &record) == NAMES[i].is_sent, "row %zu",
                              i);
        }
        program_names_clear(&names);
}
END_TEST

/* Names of many processes: the feeder remembers some, and sends the others again. */
START_TEST(test_many)
{
        ProgramNames names = {0};
        int32_t pid;

        for (pid = 1; pid <= 20000; pid++) {
                const Record record = make_record(LOAD, pid, pid, "dotnet");

                ck_assert(program_names_note(&names, &record));
                ck_assert_uint_le(g_hash_table_size(names.sent), 4096);
        }
        program_names_clear(&names);
}
END_TEST

/* An older daemon takes the frame for the frame of an unknown event. */
START_TEST(test_frame)
{
        g_autoptr(GByteArray) bytes = g_byte_array_new();
        const Record record = make_record(LOAD, PID, PID, "dotnet");
        Record got;
        IngestFrame frame;
        uint32_t stream, n;

        ingest_put_program(bytes, 3, &record);
        ck_assert_uint_eq(ingest_frame_next(bytes->data, bytes->len, &frame), bytes->len);
        ck_assert_int_eq(ingest_get_record(&frame, &stream, &got), -ENOENT);
        ck_assert_int_eq(ingest_get_program(&frame, &stream, &got), 0);
        ck_assert_uint_eq(stream, 3);
        ck_assert_uint_eq(got.time, 10);
        ck_assert(process_key_equal(&got.process, &record.process));
        ck_assert_uint_eq(got.program.n, 6);
        ck_assert_mem_eq(got.program.data, "dotnet", 6);
        for (n = frame.n_payload; n-- > 0;) {
                const IngestFrame cut = {frame.type, frame.payload, n};

                ck_assert_int_lt(ingest_get_program(&cut, &stream, &got), 0);
        }
        g_byte_array_set_size(bytes, 0);
        ck_assert(ingest_put_record(bytes, 3, &record));
        ck_assert_uint_eq(ingest_frame_next(bytes->data, bytes->len, &frame), bytes->len);
        ck_assert_int_eq(ingest_get_program(&frame, &stream, &got), -ENOENT);
}
END_TEST

typedef struct World {
        Tracker *tracker;             /* owned */
        IngestConnection *connection; /* owned */
        GByteArray *out;              /* owned */
} World;

static void open_stream(World *world, uint32_t number, uint32_t uid)
{
        g_autoptr(StreamIdentity) identity = stream_identity_new();

        identity->trace_uuid[0] = (uint8_t)(number + 1);
        identity->scheme = BUFFER_SCHEME_PER_UID;
        identity->uid = uid;
        ingest_put_stream_open(world->out, number, identity);
}

static World world_new(void)
{
        World world = {tracker_new(), NULL, g_byte_array_new()};

        world.connection = ingest_connection_new(world.tracker, false);
        ingest_put_hello(world.out, INGEST_VERSION, "test");
        open_stream(&world, 0, 1000);
        open_stream(&world, 1, 1001);
        return world;
}

static void world_commit(World *world)
{
        ingest_put_empty(world->out, INGEST_COMMIT);
        ck_assert(ingest_connection_feed(world->connection, world->out->data, world->out->len));
        g_byte_array_set_size(world->out, 0);
}

static void world_free(World *world)
{
        ingest_connection_free(world->connection);
        tracker_free(world->tracker);
        g_byte_array_unref(world->out);
}

static const char *command(const World *world, uint32_t uid)
{
        return process_command(tracker_process_of(world->tracker, &(ProcessKey){7, PID}, uid));
}

/* The name belongs to the process whose events are in the same user's buffers. */
START_TEST(test_process)
{
        World world = world_new();
        Record record = make_record(LOAD, PID, PID, "dotnet");

        ingest_put_program(world.out, 0, &record); /* process without any event */
        world_commit(&world);
        ck_assert_uint_eq(tracker_processes(world.tracker)->len, 0);
        ck_assert(ingest_put_record(world.out, 0, &record));
        ingest_put_program(world.out, 0, &record);
        world_commit(&world);
        ck_assert_str_eq(command(&world, 1000), "dotnet");

        record.program.data = (const uint8_t *)"forged";
        ingest_put_program(world.out, 1, &record);
        world_commit(&world);
        ck_assert_str_eq(command(&world, 1000), "dotnet");

        record.program.data = (const uint8_t *)"second";
        ingest_put_program(world.out, 0, &record);
        world_commit(&world);
        ck_assert_str_eq(command(&world, 1000), "second");
        world_free(&world);
}
END_TEST

/* A command line has priority over the name, whichever arrives first. */
START_TEST(test_precedence)
{
        World world = world_new();
        Record record = make_record(START, PID, PID, "dotnet");
        const Value text = {.data = (const uint8_t *)"dotnet app.dll", .n = 14};

        ck_assert(ingest_put_record(world.out, 0, &record));
        ingest_put_program(world.out, 0, &record);
        world_commit(&world);
        ck_assert_str_eq(command(&world, 1000), "dotnet");
        ck_assert(tracker_set_command(world.tracker, 1, "dotnet app.dll --host"));
        ck_assert_str_eq(command(&world, 1000), "dotnet app.dll --host");
        ingest_put_program(world.out, 0, &record);
        world_commit(&world);
        ck_assert_str_eq(command(&world, 1000), "dotnet app.dll --host");

        /* The next program with that pid. */
        record.time = 10 + UINT64_C(5000000000);
        record.values[event_field(record.event, FIELD_CommandLine)] = text;
        ck_assert(ingest_put_record(world.out, 0, &record));
        ingest_put_program(world.out, 0, &record);
        world_commit(&world);
        ck_assert_uint_eq(tracker_processes(world.tracker)->len, 2);
        ck_assert_str_eq(command(&world, 1000), "dotnet app.dll");
        world_free(&world);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("program");
        TCase *tcase = tcase_create("program");

        tcase_add_test(tcase, test_names);
        tcase_add_test(tcase, test_many);
        tcase_add_test(tcase, test_frame);
        tcase_add_test(tcase, test_process);
        tcase_add_test(tcase, test_precedence);
        suite_add_tcase(suite, tcase);
        return suite;
}
