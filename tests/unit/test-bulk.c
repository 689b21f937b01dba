/* SPDX-License-Identifier: MIT */

/*
 * The binary form: rows have the members of the answers, names precede the rows that refer to them,
 * and the replies are the same wherever the frames are cut.
 */

#include "query/bulk.h"

#include "event/method-flags.h"
#include "support/bulk-taker.h"
#include "support/script.h"
#include "support/suite.h"
#include "wire/bulk.h"

#include <errno.h>
#include <string.h>
#include <time.h>

static const char HISTORY[] =
        "1000 RuntimeInformationStart\n"
        "1001 ModuleLoad_V2 module=0x77 path=/a/b.dll\n"
        "2000 MethodJittingStarted_V1 id=1 ns=N.T name=A\n"
        "5000 MethodLoadVerbose_V1 id=0x1 start=0x1000 size=16 flags=0x188 token=0x6000001 "
        "module=0x77 ns=N.T name=A MethodSignature=()\n"
        "5001 MethodILToNativeMap_V1 id=0x1 ilversion=3 CountOfMapEntries=4 ILOffsets=-2,7,-1,-3 "
        "NativeOffsets=0,4,8,12\n"
        "5002 MethodLoadVerbose_V2 id=0x1 rejit=2 start=0x2000 size=32 flags=0x208 "
        "token=0x6000001 module=0x77 ns=N.T name=A MethodSignature=()\n"
        "6000 MethodUnloadVerbose_V1 id=0x1 start=0x1000 size=16 name=A\n"
        "7000 R2RGetEntryPoint id=0x9 entry=0x9000 ns=N.T name=P\n"
        "8000 MethodLoadVerbose_V1 id=5 start=0x5000 size=16 name=B\n"
        "8001 MethodUnloadVerbose_V1 id=5 start=0x5000 size=16 name=B\n"
        "8002 MethodLoadVerbose_V1 id=6 start=0x5000 size=16 name=C\n"
        "8003 MethodUnloadVerbose_V1 id=6 start=0x5000 size=16 name=C\n"
        "8500 DotNETRuntimeRundown:MethodDCEndVerbose_V1 id=8 start=0x8000 size=16 name=D flags=8\n"
        "8600 MethodLoadVerbose_V1 pid=200 pid_ns=5 id=1 start=0x1000 size=16 name=Other\n"
        "progress 9000\n";

static GByteArray *frame(const BulkQuery *queries, size_t n, uint32_t tag, uint32_t wait_ms)
{
        const BulkHeader header = {.size = (uint32_t)(n * sizeof(*queries)),
                                   .type = BULK_QUERIES,
                                   .tag = tag,
                                   .wait_ms = wait_ms};
        GByteArray *bytes = g_byte_array_new();

        g_byte_array_append(bytes, (const uint8_t *)&header, sizeof(header));
        g_byte_array_append(bytes, (const uint8_t *)queries, header.size);
        return bytes;
}

static void ask(Client *client, const BulkQuery *queries, size_t n)
{
        g_autoptr(GByteArray) bytes = frame(queries, n, 7, 0);
        g_autoptr(GString) out = g_string_new(NULL);
        unsigned wait_ms;

        g_array_set_size(client->stubs, 0);
        g_array_set_size(client->inlined, 0);
        ck_assert_int_eq(bulk_run(client->bulk, bytes->data, bytes->len, false, &wait_ms, out),
                         bytes->len);
        ck_assert_uint_eq(wait_ms, 0);
        client_take(client, out);
        ck_assert_uint_eq(client->answers->len, n);
        ck_assert_uint_eq(client->tag, 7);
}

static const BulkAnswer *answer_to(Client *client, const BulkQuery *query)
{
        ask(client, query, 1);
        return &g_array_index(client->answers, BulkAnswer, 0);
}

static const char *name(const Client *client, uint32_t id)
{
        const char *text = id ? g_hash_table_lookup(client->names, GUINT_TO_POINTER(id)) : "-";

        ck_assert_msg(text, "name %u was not sent", id);
        return text;
}

#define PID(place, ...)                                                                            \
        {                                                                                          \
                .pid = 100, .address = place, __VA_ARGS__                                          \
        }
#define AT(t) .flags = BULK_QUERY_TIME, .time = t

static const struct {
        BulkQuery query;
        const char *names; /* namespace name signature path */
        BulkAnswer answer; /* NULL-terminated fields without ids */
} ROWS[] = {
        {PID(0x1005, AT(5500)),
         "N.T A () /a/b.dll",
         {.status = ANSWER_OK,
          .confidence = CONFIDENCE_EXACT,
          .source = BODY_SOURCE_LOAD,
          .tier = METHOD_TIER_QUICK_JITTED,
          .il_kind = 1,
          .il_offset = 7,
          .line_il = 7,
          .flags = BULK_ANSWER_BODY | BULK_ANSWER_IL_VERSION,
          .size = 16,
          .method_flags = 0x188,
          .token = 0x6000001,
          .jit_us = 4,
          .start = 0x1000,
          .method_id = 1,
          .module_id = 0x77,
          .loaded = 5000,
          .unloaded = 6000,
          .il_version = 3}},
        {PID(0x100f, AT(6500)),
         "N.T A () /a/b.dll",
         {.status = ANSWER_UNLOADED,
          .tier = METHOD_TIER_QUICK_JITTED,
          .il_kind = 3,
          .line_il = 7,
          .flags = BULK_ANSWER_BODY | BULK_ANSWER_IL_VERSION | BULK_ANSWER_NEAREST,
          .size = 16,
          .method_flags = 0x188,
          .token = 0x6000001,
          .jit_us = 4,
          .start = 0x1000,
          .method_id = 1,
          .module_id = 0x77,
          .loaded = 5000,
          .unloaded = 6000,
          .il_version = 3,
          .distance = -500}},
        {PID(0x2000),
         "N.T A () /a/b.dll",
         {.status = ANSWER_OK,
          .tier = METHOD_TIER_OPTIMIZED_TIER1,
          .flags = BULK_ANSWER_BODY,
          .line_il = -1,
          .size = 32,
          .method_flags = 0x208,
          .token = 0x6000001,
          .rejit_id = 2,
          .jit_us = 4,
          .start = 0x2000,
          .method_id = 1,
          .module_id = 0x77,
          .loaded = 5002,
          .unloaded = UINT64_MAX}},
        {PID(0x2001, AT(4000)),
         "N.T A () /a/b.dll",
         {.status = ANSWER_NOT_YET,
          .tier = METHOD_TIER_OPTIMIZED_TIER1,
          .flags = BULK_ANSWER_BODY | BULK_ANSWER_NEAREST,
          .line_il = -1,
          .size = 32,
          .method_flags = 0x208,
          .token = 0x6000001,
          .rejit_id = 2,
          .jit_us = 4,
          .start = 0x2000,
          .method_id = 1,
          .module_id = 0x77,
          .loaded = 5002,
          .unloaded = UINT64_MAX,
          .distance = 1002}},
        {PID(0x9000),
         "N.T P  -",
         {.status = ANSWER_OK,
          .source = BODY_SOURCE_R2R_ENTRY,
          .tier = 8,
          .flags = BULK_ANSWER_BODY,
          .line_il = -1,
          .start = 0x9000,
          .method_id = 9,
          .unloaded = UINT64_MAX}},
        {PID(0x8004, AT(8400)),
         " D  -",
         {.status = ANSWER_OK,
          .confidence = CONFIDENCE_ASSUMED,
          .source = BODY_SOURCE_RUNDOWN,
          .flags = BULK_ANSWER_BODY,
          .line_il = -1,
          .size = 16,
          .method_flags = 8,
          .start = 0x8000,
          .method_id = 8,
          .unloaded = UINT64_MAX}},
        {PID(0x5000), "- - - -", {.status = ANSWER_AMBIGUOUS, .n_candidates = 2}},
        {PID(0x7000), "- - - -", {.status = ANSWER_NO_METHOD}},
        {PID(0x7000, AT(9001)),
         "- - - -",
         {.status = ANSWER_PENDING, .confidence = CONFIDENCE_PROVISIONAL}},
        {{.pid = 101, .address = 0x1000},
         "- - - -",
         {.status = ANSWER_NO_PROCESS, .process = BULK_NO_PROCESS}},
        {{.pid = -1, .address = 0x1000},
         "- - - -",
         {.status = ANSWER_NO_PROCESS, .process = BULK_NO_PROCESS}},
        {{.pid = 200, .pid_ns = 4, .flags = BULK_QUERY_PID_NS, .address = 0x1000},
         "- - - -",
         {.status = ANSWER_NO_PROCESS, .process = BULK_NO_PROCESS}},
        {{.pid = 100, .pid_ns = 4, .address = 0x7000},
         "- - - -", /* without the flag the inlined method has no meaning */
         {.status = ANSWER_NO_METHOD}},
        {PID(0x7000, .time = 1), "- - - -", {.status = ANSWER_NO_METHOD}},
};

START_TEST(test_row)
{
        Tracker *tracker = script_tracker(HISTORY);
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        g_autofree char *names = NULL;
        BulkAnswer row;
        Client client;

        client_init(&client, &context, BULK_VERSION);
        row = *answer_to(&client, &ROWS[_i].query);
        names = g_strjoin(" ", name(&client, row.name_space), name(&client, row.name),
                          name(&client, row.signature), name(&client, row.module_path), NULL);
        ck_assert_str_eq(names, ROWS[_i].names);
        row.name_space = row.name = row.signature = row.module_path = 0;
        ck_assert_uint_eq(row.status, ROWS[_i].answer.status);
        ck_assert_uint_eq(row.flags, ROWS[_i].answer.flags);
        ck_assert_uint_eq(row.il_kind, ROWS[_i].answer.il_kind);
        ck_assert_uint_eq(row.jit_us, ROWS[_i].answer.jit_us);
        ck_assert_uint_eq(row.unloaded, ROWS[_i].answer.unloaded);
        ck_assert_int_eq(row.distance, ROWS[_i].answer.distance);
        ck_assert_mem_eq(&row, &ROWS[_i].answer, sizeof(row));
        client_deinit(&client);
        tracker_free(tracker);
}
END_TEST

/* IL stubs and the methods that they are made for; neighbouring rows share one stub record. */
START_TEST(test_stubs)
{
        static const uint32_t STUBS[] = {1, 1, 0, 2, 3};
        const BulkQuery queries[] = {PID(0x1000), PID(0x1008), PID(0x3000), PID(0x2000),
                                     PID(0x1000)};
        Tracker *tracker = script_tracker(
                "10 ILStubGenerated StubMethodID=1 ManagedInteropMethodNamespace=N.T "
                "ManagedInteropMethodName=Read ManagedInteropMethodSignature=int32(string)\n"
                "11 MethodLoadVerbose_V1 id=1 start=0x1000 size=64 ns=dynamicClass "
                "name=IL_STUB_PInvoke\n"
                "12 ILStubGenerated StubMethodID=2 ManagedInteropMethodName=Write\n"
                "13 MethodLoadVerbose_V1 id=2 start=0x2000 size=64 ns=dynamicClass "
                "name=IL_STUB_PInvoke\n"
                "14 MethodLoadVerbose_V1 id=3 start=0x3000 size=64 ns=N name=A\n");
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        static const char *const NAMES[] = {"N.T Read int32(string)", "- Write -",
                                            "N.T Read int32(string)"};
        Client client;
        size_t i;

        client_init(&client, &context, 2);
        ask(&client, queries, G_N_ELEMENTS(queries));
        for (i = 0; i < G_N_ELEMENTS(queries); i++)
                ck_assert_uint_eq(g_array_index(client.answers, BulkAnswer, i).stub_for, STUBS[i]);
        ck_assert_uint_eq(client.stubs->len, G_N_ELEMENTS(NAMES));
        for (i = 0; i < G_N_ELEMENTS(NAMES); i++) {
                const BulkStub *stub = &g_array_index(client.stubs, BulkStub, i);
                g_autofree char *names =
                        g_strjoin(" ", name(&client, stub->name_space), name(&client, stub->name),
                                  name(&client, stub->signature), NULL);

                ck_assert_str_eq(names, NAMES[i]);
                ck_assert_uint_eq(stub->reserved, 0);
        }
        client_deinit(&client);

        /* With the first version no stubs are sent. */
        client_init(&client, &context, 1);
        ask(&client, queries, G_N_ELEMENTS(queries));
        for (i = 0; i < G_N_ELEMENTS(queries); i++)
                ck_assert_uint_eq(g_array_index(client.answers, BulkAnswer, i).stub_for, 0);
        ck_assert_uint_eq(client.stubs->len, 0);
        client_deinit(&client);
        tracker_free(tracker);
}
END_TEST

/* Method 8 is inlined into method 1, from byte 16 on, where method 1 calls it at IL offset 5. */
#define TREE                                                                                       \
        "Data=2,0,0,0,2,0,0,0,1,0,0,0,0,0,0,0,255,255,255,255,1,0,0,0,0,0,0,0,8,0,0,0,0,0,0,0,5,"  \
        "0,0,"                                                                                     \
        "0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,3,0,0,0,1,0,0,0,16,0,0,0,0"

START_TEST(test_inlined)
{
        const BulkQuery queries[] = {PID(0x1000), PID(0x1010), PID(0x1011)};
        Tracker *tracker = script_tracker(
                "1 ModuleLoad_V2 module=5 path=/a.dll\n"
                "10 MethodLoadVerbose_V1 id=1 start=0x1000 size=64 ns=N name=A\n"
                "11 DotNETRuntimePrivate:JittedMethodRichDebugInfo id=1 ChunkFlags=0x80000000 " TREE
                "\n12 BulkType Values=0x10/5/0x02000007/0/0x12\n"
                "13 MethodDetails id=8 TypeID=0x10 token=0x06000008\n");
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        const BulkAnswer *rows;
        Client client;
        unsigned version;

        for (version = 3; version <= BULK_VERSION; version++) {
                client_init(&client, &context, version);
                ask(&client, queries, G_N_ELEMENTS(queries));
                rows = &g_array_index(client.answers, BulkAnswer, 0);
                ck_assert_uint_eq(rows[0].n_inlined, 0);
                ck_assert_uint_eq(rows[1].n_inlined, version > 3);
                ck_assert_uint_eq(rows[2].inlined, version > 3 ? 2 : 0);
                ck_assert_uint_eq(client.inlined->len, version > 3 ? 2 : 0);
                if (version > 3) {
                        const BulkInlined *inlined =
                                &g_array_index(client.inlined, BulkInlined, rows[1].inlined - 1);

                        ck_assert_str_eq(name(&client, inlined->method), "06000008@-@/a.dll");
                        ck_assert_int_eq(inlined->il_offset, 3);
                }
                client_deinit(&client);
        }
        tracker_free(tracker);
}
END_TEST

/* Rows of several processes, each process once; and the counters. */
START_TEST(test_batch)
{
        const BulkQuery queries[] = {
                PID(0x1000),
                {.pid = 200, .address = 0x1000},
                PID(0x2000),
                {.pid = 7, .address = 1},
                {.pid = 200, .pid_ns = 5, .flags = BULK_QUERY_PID_NS, .address = 0x1008},
        };
        static const uint32_t PROCESSES[] = {0, 1, 0, BULK_NO_PROCESS, 1};
        Tracker *tracker = script_tracker(HISTORY);
        QueryStats stats = {0};
        const QueryContext context = {
                .tracker = tracker, .viewer = {.sees_all = true}, .stats = &stats};
        const BulkProcess *process;
        Client client;
        unsigned i;

        client_init(&client, &context, BULK_VERSION);
        ask(&client, queries, G_N_ELEMENTS(queries));
        for (i = 0; i < G_N_ELEMENTS(queries); i++)
                ck_assert_uint_eq(g_array_index(client.answers, BulkAnswer, i).process,
                                  PROCESSES[i]);
        ck_assert_uint_eq(client.processes->len, 2);
        process = &g_array_index(client.processes, BulkProcess, 1);
        ck_assert(process->pid == 200 && process->pid_ns == 5 && process->generation == 1);
        ck_assert_uint_eq(process->epoch,
                          codemap_epoch(tracker_process(tracker, &(ProcessKey){5, 200})->map));
        ck_assert_uint_eq(process->horizon, 9000);
        ck_assert_uint_eq(stats.answers[ANSWER_OK], 4);
        ck_assert_uint_eq(stats.answers[ANSWER_NO_PROCESS], 1);
        ask(&client, NULL, 0);
        ck_assert_uint_eq(client.processes->len, 0);
        client_deinit(&client);
        tracker_free(tracker);
}
END_TEST

static double cpu_seconds(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* Many queries in one frame for an address where thousands of bodies were: the daemon searches the
 * address once. */
START_TEST(test_ambiguous)
{
        enum { N_BODIES = 5000, N_QUERIES = 3000 };
        static const BulkQuery KINDS[] = {PID(0x1000), PID(0x1001), PID(0x9000)};
        g_autoptr(GString) script = g_string_new(NULL);
        g_autofree BulkQuery *queries = g_new(BulkQuery, N_QUERIES);
        BulkAnswer alone[G_N_ELEMENTS(KINDS)];
        double begin, seconds;
        Tracker *tracker;
        QueryContext context = {.viewer = {.sees_all = true}};
        Client client;
        unsigned i;

        for (i = 1; i <= N_BODIES; i++)
                g_string_append_printf(script,
                                       "%u MethodLoadVerbose_V1 id=%u start=0x1000 size=16\n"
                                       "%u MethodUnloadVerbose_V1 id=%u start=0x1000 size=16\n",
                                       10 * i, i, 10 * i + 5, i);
        g_string_append_printf(script, "%u MethodLoadVerbose_V1 id=%u start=0x9000 size=16 name=L",
                               10 * i, i);
        tracker = script_tracker(script->str);
        context.tracker = tracker;
        client_init(&client, &context, BULK_VERSION);
        for (i = 0; i < N_QUERIES; i++)
                queries[i] = KINDS[i % G_N_ELEMENTS(KINDS)];
        begin = cpu_seconds();
        for (i = 0; i < G_N_ELEMENTS(KINDS); i++)
                alone[i] = *answer_to(&client, &KINDS[i]);
        seconds = cpu_seconds() - begin;
        begin = cpu_seconds();
        ask(&client, queries, N_QUERIES);
        ck_assert_msg(cpu_seconds() - begin < seconds * N_QUERIES / 10, "%g s, alone: %g s",
                      cpu_seconds() - begin, seconds);
        ck_assert_uint_eq(alone[0].n_candidates, N_BODIES);
        for (i = 0; i < N_QUERIES; i++)
                ck_assert_mem_eq(&g_array_index(client.answers, BulkAnswer, i),
                                 &alone[i % G_N_ELEMENTS(KINDS)], sizeof(BulkAnswer));
        client_deinit(&client);
        tracker_free(tracker);
}
END_TEST

/* A name is sent once; names of another user are never sent. */
START_TEST(test_names_once)
{
        const BulkQuery query = PID(0x2000);
        Tracker *tracker = script_tracker(HISTORY);
        const QueryContext all = {.tracker = tracker, .viewer = {.sees_all = true}};
        const QueryContext other = {.tracker = tracker, .viewer = {.uid = 1001}};
        Client client;

        client_init(&client, &all, BULK_VERSION);
        ask(&client, &query, 1);
        ck_assert_uint_eq(client.n_named, 4);
        ask(&client, &query, 1);
        ck_assert_uint_eq(client.n_named, 4);
        ck_assert_str_eq(name(&client, answer_to(&client, &query)->name), "A");
        client_deinit(&client);
        client_init(&client, &other, BULK_VERSION);
        ck_assert_uint_eq(answer_to(&client, &query)->status, ANSWER_NO_PROCESS);
        ck_assert_uint_eq(client.n_named, 0);
        client_deinit(&client);
        tracker_free(tracker);
}
END_TEST

/* Replaces SCRIPT by one that loads N methods of process PID and then ends the process. Each method
 * has names of its own, which begin with PREFIX. */
static void append_process(GString *script, int pid, unsigned n, const char *prefix)
{
        unsigned i;

        g_string_truncate(script, 0);
        for (i = 0; i < n; i++)
                g_string_append_printf(
                        script,
                        "%d MethodLoadVerbose_V1 pid=%d id=%u start=%u size=16 ns=N%s%d_%u "
                        "name=%s%d_%u MethodSignature=(%s%d_%u)\n",
                        1000 * pid, pid, i + 1, 0x10000 + 0x10 * i, prefix, pid, i, prefix, pid, i,
                        prefix, pid, i);
        g_string_append_printf(script, "%d AppDomainUnload_V1 pid=%d\n", 1000 * pid + 1, pid);
}

/* Asks for all bodies of a process, and checks that each has its own names. */
static void check_process(Client *client, int pid, unsigned n, const char *prefix)
{
        BulkQuery queries[BULK_MAX_QUERIES];
        unsigned first, i;

        for (first = 0; first < n; first += BULK_MAX_QUERIES) {
                unsigned n_now = MIN(n - first, BULK_MAX_QUERIES);

                for (i = 0; i < n_now; i++)
                        queries[i] =
                                (BulkQuery){.pid = pid, .address = 0x10008 + 0x10 * (first + i)};
                ask(client, queries, n_now);
                for (i = 0; i < n_now; i++) {
                        const BulkAnswer *row = &g_array_index(client->answers, BulkAnswer, i);
                        g_autofree char *want = g_strdup_printf("%s%d_%u", prefix, pid, first + i);

                        ck_assert_uint_eq(row->status, ANSWER_OK);
                        ck_assert_str_eq(name(client, row->name), want);
                        ck_assert_str_eq(name(client, row->name_space) + 1, want);
                        ck_assert(!strncmp(name(client, row->signature) + 1, want, strlen(want)));
                }
        }
}

/*
 * An evicted name's number is given to another name: the client gets the new name before an answer
 * with this number. N: fewer names than the string table remembers, and more.
 */
START_TEST(test_reused_numbers)
{
        static const unsigned N[] = {50, 2000, 6000};
        static const char BEGIN[] = "1 MethodLoadVerbose_V1 pid=9999 id=1 start=0x1000 size=16 "
                                    "name=Stays ns=S MethodSignature=(s)\n";
        const BulkQuery stays = {.pid = 9999, .address = 0x1000};
        g_autoptr(GString) script = g_string_new(NULL);
        Tracker *tracker = script_tracker(BEGIN);
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        Client client;
        int pid;

        client_init(&client, &context, BULK_VERSION);
        for (pid = 1; pid <= 4; pid++) {
                append_process(script, pid, N[_i], "P");
                script_go_on(tracker, script->str);
                check_process(&client, pid, N[_i], "P");
                ck_assert_str_eq(name(&client, answer_to(&client, &stays)->name), "Stays");
                tracker_age(tracker, 0);
                tracker_age(tracker, 0);
                ck_assert_uint_eq(tracker_processes(tracker)->len, 1);
        }
        ck_assert_uint_gt(strtab_n_reuses(tracker_budget(tracker)->names), 3 * 3 * N[_i] - 100);
        ck_assert(!!client.n_forgets == (N[_i] == 6000));
        client_deinit(&client);
        tracker_free(tracker);
}
END_TEST

/* More names than a client keeps, 264,000: the daemon sends forgotten names again. */
START_TEST(test_forget)
{
        enum { N = 22000, N_PROCESSES = 4 };
        g_autoptr(GString) script = g_string_new(NULL);
        Tracker *tracker = script_tracker("");
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        Client client;
        int pid;

        client_init(&client, &context, BULK_VERSION);
        for (pid = 1; pid <= N_PROCESSES; pid++) {
                append_process(script, pid, N, "P");
                script_go_on(tracker, script->str);
                check_process(&client, pid, N, "P");
        }
        ck_assert_uint_eq(client.n_forgets, 1);
        check_process(&client, 1, 100, "P");
        client_deinit(&client);
        tracker_free(tracker);
}
END_TEST

/* Names with more bytes than a client keeps: an error if one frame has them all; in several frames,
 * the client never keeps too many. */
START_TEST(test_long_names)
{
        enum { N = 800, N_BYTES = 30000 };
        g_autofree char *prefix = g_strnfill(N_BYTES, 'L');
        g_autoptr(GString) script = g_string_new(NULL), out = g_string_new(NULL);
        Tracker *tracker = script_tracker("");
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        g_autofree BulkQuery *queries = g_new0(BulkQuery, N);
        g_autoptr(GByteArray) bytes = NULL;
        unsigned wait_ms, i;
        Client client;

        append_process(script, 1, N, prefix);
        script_go_on(tracker, script->str);
        client_init(&client, &context, BULK_VERSION);
        for (i = 0; i < 2 * N; i++) {
                GHashTableIter iter;
                size_t n_bytes = 0;
                gpointer text;

                queries[0] = (BulkQuery){.pid = 1, .address = 0x10000 + 0x10 * (i % N)};
                ck_assert_int_eq(*name(&client, answer_to(&client, queries)->name), 'L');
                g_hash_table_iter_init(&iter, client.names);
                while (g_hash_table_iter_next(&iter, NULL, &text))
                        n_bytes += N_BYTES;
                ck_assert_uint_le(n_bytes, BULK_MAX_NAME_BYTES);
        }
        ck_assert_uint_ge(client.n_forgets, 2);
        for (i = 0; i < N; i++)
                queries[i] = (BulkQuery){.pid = 1, .address = 0x10000 + 0x10 * i};
        bytes = frame(queries, N, 7, 0);
        ck_assert_int_eq(bulk_run(client.bulk, bytes->data, bytes->len, false, &wait_ms, out),
                         -EBADMSG);
        client_take(&client, out);
        ck_assert_ptr_nonnull(strstr(client.error, "ask for less"));
        client_deinit(&client);
        tracker_free(tracker);
}
END_TEST

/* Frames, cut everywhere: the daemon takes a frame only when the frame is complete. */
START_TEST(test_every_cut)
{
        const BulkQuery queries[] = {PID(0x1000, AT(5500)), PID(0x2000), PID(0x5000)};
        g_autoptr(GByteArray) bytes = frame(queries, 3, 1, 0), second = frame(queries, 2, 2, 0);
        Tracker *tracker = script_tracker(HISTORY);
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        g_autoptr(GString) want = g_string_new(NULL);
        size_t cut;

        g_byte_array_append(bytes, second->data, second->len);
        for (cut = 0; cut <= bytes->len; cut++) {
                Bulk *bulk = bulk_new(&context, BULK_VERSION);
                g_autoptr(GString) out = g_string_new(NULL);
                size_t ends[] = {cut, bytes->len}, at = 0, i;

                for (i = 0; i < 2; i++) {
                        ssize_t n = 1;
                        unsigned wait_ms;

                        for (; n; at += (size_t)n) {
                                /* A copy of the exact size, so that the address sanitizer sees a
                                 * read beyond the end. */
                                g_autofree uint8_t *own = g_memdup2(bytes->data + at, ends[i] - at);

                                n = bulk_run(bulk, own, ends[i] - at, false, &wait_ms, out);
                                ck_assert_int_ge(n, 0);
                        }
                }
                ck_assert_uint_eq(at, bytes->len);
                if (cut == 0)
                        g_string_append_len(want, out->str, (gssize)out->len);
                ck_assert(g_string_equal(out, want));
                bulk_free(bulk);
        }
        tracker_free(tracker);
}
END_TEST

static const struct {
        BulkHeader header;
        ssize_t n; /* bytes, all zero, that follow the header */
} BAD[] = {
        {{.type = 0}, 0},
        {{.type = BULK_NAMES}, 0},
        {{.type = BULK_ANSWERS, .size = 112}, 112},
        {{.type = 2, .size = 32}, 32},
        {{.type = BULK_QUERIES, .reserved = 1}, 0},
        {{.type = BULK_QUERIES, .size = 1}, 0},
        {{.type = BULK_QUERIES, .size = 31}, 31},
        {{.type = BULK_QUERIES, .size = 33}, 33},
        {{.type = BULK_QUERIES, .size = 4097 * 32}, 0},
        {{.type = BULK_QUERIES, .size = UINT32_MAX}, 0},
        {{.type = BULK_QUERIES, .size = UINT32_MAX - 31}, 0},
};

/* The error is found as soon as the header has arrived. */
START_TEST(test_bad)
{
        Tracker *tracker = script_tracker(HISTORY);
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        g_autoptr(GString) in = g_string_new(NULL), out = g_string_new(NULL);
        unsigned wait_ms;
        Client client;

        client_init(&client, &context, BULK_VERSION);
        g_string_append_len(in, (const char *)&BAD[_i].header, sizeof(BulkHeader));
        g_string_set_size(in, sizeof(BulkHeader) + (gsize)BAD[_i].n);
        ck_assert_int_eq(bulk_run(client.bulk, (const uint8_t *)in->str, sizeof(BulkHeader) - 1,
                                  false, &wait_ms, out),
                         0);
        ck_assert_uint_eq(out->len, 0);
        ck_assert_int_eq(
                bulk_run(client.bulk, (const uint8_t *)in->str, in->len, false, &wait_ms, out),
                -EBADMSG);
        client_take(&client, out);
        ck_assert_ptr_nonnull(client.error);
        client_deinit(&client);
        tracker_free(tracker);
}
END_TEST

START_TEST(test_wait)
{
        const BulkQuery query = PID(0x2000, AT(9500));
        g_autoptr(GByteArray) bytes = frame(&query, 1, 1, 250);
        g_autoptr(GString) out = g_string_new(NULL);
        Tracker *tracker = script_tracker(HISTORY);
        const QueryContext context = {.tracker = tracker, .viewer = {.sees_all = true}};
        unsigned wait_ms;
        Client client;

        client_init(&client, &context, BULK_VERSION);
        ck_assert_int_eq(bulk_run(client.bulk, bytes->data, bytes->len, false, &wait_ms, out), 0);
        ck_assert_uint_eq(wait_ms, 250);
        ck_assert_uint_eq(out->len, 0);
        if (_i == 0)
                script_go_on(tracker, "progress 9500\n");
        ck_assert_int_eq(bulk_run(client.bulk, bytes->data, bytes->len, _i == 1, &wait_ms, out),
                         bytes->len);
        ck_assert_uint_eq(wait_ms, 0);
        client_take(&client, out);
        ck_assert_uint_eq(g_array_index(client.answers, BulkAnswer, 0).confidence,
                          _i ? CONFIDENCE_PROVISIONAL : CONFIDENCE_EXACT);
        client_deinit(&client);
        tracker_free(tracker);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("bulk");
        TCase *tcase = tcase_create("bulk");

        tcase_set_timeout(tcase, 120);
        tcase_add_loop_test(tcase, test_row, 0, G_N_ELEMENTS(ROWS));
        tcase_add_test(tcase, test_stubs);
        tcase_add_test(tcase, test_inlined);
        tcase_add_test(tcase, test_batch);
        tcase_add_test(tcase, test_ambiguous);
        tcase_add_test(tcase, test_names_once);
        tcase_add_loop_test(tcase, test_reused_numbers, 0, 3);
        tcase_add_test(tcase, test_forget);
        tcase_add_test(tcase, test_long_names);
        tcase_add_test(tcase, test_every_cut);
        tcase_add_loop_test(tcase, test_bad, 0, G_N_ELEMENTS(BAD));
        tcase_add_loop_test(tcase, test_wait, 0, 2);
        suite_add_tcase(suite, tcase);
        return suite;
}
