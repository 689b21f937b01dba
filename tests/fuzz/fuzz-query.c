/* SPDX-License-Identifier: MIT */

/*
 * A client's calls and binary frames at the query socket, while a tracker is fed: u8 flags, then
 * steps. Every reply is complete and valid, and no turn takes long.
 */

#include "event/method-flags.h"
#include "fuzz.h"
#include "query/query-connection.h"
#include "wire/bulk.h"

#include <string.h>
#include <time.h>

typedef enum StepKind {
        STEP_CALL,    /* u16 size, text: a call */
        STEP_BYTES,   /* u16 size, raw bytes */
        STEP_RESOLVE, /* u16 wait_ms, then rows */
        STEP_QUERIES, /* the same as a binary frame */
        STEP_UPGRADE, /* u8 version: the call Bulk */
        STEP_EVENT,   /* u8 address, u8 size: an event of the process */
        STEP_RUN,     /* u16 ms of passed time */
        STEP_READ,    /* the client reads the output */
        N_STEP_KINDS,
} StepKind;

enum {
        /* Limit of a turn's CPU time; the daemon promises 20 ms. */
        MAX_TURN_MS = 200,
        MAX_TURNS = 5000,
        MAX_ROWS = 4096,
        /* Usually enough rows to exceed a group that is answered at once. */
        USUAL_ROWS = 80,
        USUAL_BINARY_ROWS = 320,
        MANY_ROWS = 0xa5, /* upper byte for many rows; a value that a fuzzer seldom tries */
        MAX_GIVEN_ROWS = 16,
        /* Bodies at one address: more than an answer shows, and more than a part of a list has. */
        N_LARGE = 100,
        N_STORM = 2000,
        SEES_ALL = 1,
        IS_LIVE = 2,
        FINDS_PIDS = 4,
        IS_LARGE = 8,
        IS_STORM = 0xf0,
};

typedef struct Client {
        Tracker *tracker;
        TrackerStream *stream; /* NULL: no further events */
        QueryConnection *connection;
        int64_t now_ms;
        uint64_t now; /* time of the events */
        bool is_binary;
} Client;

typedef struct Load {
        uint64_t time;
        int32_t pid;
        uint64_t pid_ns;
        uint64_t start;
        uint32_t size;
        const char *name;
} Load;

static void put_number(Record *record, FieldName name, uint64_t u)
{
        record->values[event_field(record->event, name)].u = u;
}

static void apply(Tracker *tracker, TrackerStream *stream, const char *event, const Load *load)
{
        Record record = {.event = event_by_name(event),
                         .time = load->time,
                         .process = {load->pid_ns, load->pid}};
        Value *name = &record.values[event_field(record.event, FIELD_MethodName)];
        unsigned i;

        for (i = 0; i < record.event->n_fields; i++)
                record.values[i].data = (const uint8_t *)"";
        put_number(&record, FIELD_MethodID, load->start + (uint64_t)*load->name);
        put_number(&record, FIELD_MethodStartAddress, load->start);
        put_number(&record, FIELD_MethodSize, load->size);
        put_number(&record, FIELD_MethodFlags, METHOD_FLAG_JITTED);
        name->data = (const uint8_t *)load->name;
        name->n = (uint32_t)strlen(load->name);
        tracker_apply_record(tracker, stream, &record);
}

/* Opens streams of two users. */
static TrackerStream *open_stream(Tracker *tracker, uint32_t uid)
{
        g_autoptr(StreamIdentity) identity = stream_identity_new();

        identity->trace_uuid[0] = (uint8_t)(uid / 1000);
        identity->scheme = BUFFER_SCHEME_PER_UID;
        identity->uid = uid;
        return tracker_stream_open(tracker, identity);
}

#define LOAD   "DotNETRuntime:MethodLoadVerbose_V1"
#define UNLOAD "DotNETRuntime:MethodUnloadVerbose_V1"

static Tracker *small_tracker(TrackerStream **ret_stream)
{
        static const Load LOADS[] = {
                {20, 100, 0, 0x1000, 16, "A"},
                {21, 100, 0, 0x1010, 16, "B"},
                {23, 100, 0, 0x1000, 32, "C"},
                {24, 101, 0, 0x1000, 32, "D"},
        };
        static const Load OTHER = {27, 102, 1, 0x2000, 8, "E"};
        static const StreamGap GAP = {GAP_EVENTS, 25, 26, 3};
        Tracker *tracker = tracker_new();
        TrackerStream *stream = open_stream(tracker, 1000);
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(LOADS); i++)
                apply(tracker, stream, LOAD, &LOADS[i]);
        tracker_apply_gap(tracker, stream, &GAP);
        apply(tracker, open_stream(tracker, 2000), LOAD, &OTHER);
        tracker_apply_progress(tracker, stream, 30);
        tracker_commit(tracker);
        *ret_stream = stream;
        return tracker;
}

static Tracker *new_large_tracker(uint32_t n)
{
        TrackerStream *stream;
        Tracker *tracker = small_tracker(&stream);
        uint32_t i;

        for (i = 0; i < n; i++) {
                g_autofree char *name = g_strdup_printf("Storm%u", i);
                Load load = {100 + i, 100, 0, 0x1000, 16, name};

                apply(tracker, stream, LOAD, &load);
                load.pid += (int32_t)i % 100;
                load.pid_ns = i;
                if (i % 16 == 0)
                        apply(tracker, stream, LOAD, &load);
        }
        tracker_commit(tracker);
        return tracker;
}

/* Returns a tracker with many bodies at one address, and many processes; it is made once, and never
 * changes. */
static Tracker *large_tracker(bool is_storm)
{
        static Tracker *trackers[2];

        if (!trackers[is_storm])
                trackers[is_storm] = new_large_tracker(is_storm ? N_STORM : N_LARGE);
        return trackers[is_storm];
}

static void note_body(void *data, const Process *process, const Body *body, bool is_end)
{
        const Client *client = data;

        if (query_connection_is_watching(client->connection))
                query_connection_note_body(client->connection, process, body, is_end);
}

static void note_epoch(void *data, const Process *process)
{
        const Client *client = data;

        if (query_connection_is_watching(client->connection))
                query_connection_note_epoch(client->connection, process);
}

static bool find_pid(void *data, int32_t pid, ProcessKey *ret_key)
{
        *ret_key = (ProcessKey){.pid = pid + 1};
        return pid & 1;
}

static int64_t cpu_ms(void)
{
        struct timespec now;

        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
        return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Returns the size of the binary frame at the begin of the output. */
static size_t check_frame(const GString *output)
{
        BulkHeader header;

        FUZZ_REQUIRE(output->len >= sizeof(header));
        memcpy(&header, output->str, sizeof(header));
        FUZZ_REQUIRE(header.type >= BULK_NAMES && header.type <= BULK_STUBS);
        FUZZ_REQUIRE(output->len - sizeof(header) >= header.size);
        if (header.type == BULK_ERROR)
                FUZZ_REQUIRE(g_utf8_validate(output->str + sizeof(header), header.size, NULL));
        return sizeof(header) + header.size;
}

/* Returns the size of the reply, with its NUL. After the reply to an upgrade, frames follow. */
static size_t check_reply(Client *client, const GString *output)
{
        const char *end = memchr(output->str, '\0', output->len);
        json_auto_t *reply = NULL;
        json_t *parameters;

        FUZZ_REQUIRE(end);
        reply = json_loadb(output->str, (size_t)(end - output->str), 0, NULL);
        FUZZ_REQUIRE(json_is_object(reply));
        parameters = json_object_get(reply, "parameters");
        FUZZ_REQUIRE(json_is_object(parameters));
        client->is_binary = json_object_get(parameters, "max_queries") != NULL;
        return (size_t)(end - output->str) + 1;
}

static void read_output(Client *client)
{
        GString *output = query_connection_output(client->connection);
        size_t n = 0;

        while (n < output->len) {
                GString rest = {output->str + n, output->len - n, 0};

                n += client->is_binary ? check_frame(&rest) : check_reply(client, &rest);
        }
        g_string_truncate(output, 0);
}

static void run(Client *client)
{
        unsigned n = 0;
        int wait_ms;

        do {
                int64_t begin = cpu_ms();

                wait_ms = query_connection_run(client->connection, client->now_ms);
                FUZZ_REQUIRE(cpu_ms() - begin <= (int64_t)MAX_TURN_MS * FUZZ_SLOWER);
                FUZZ_REQUIRE(++n < MAX_TURNS);
                if (query_connection_output(client->connection)->len > QUERY_MAX_OUTPUT)
                        read_output(client);
        } while (wait_ms == 0 && !query_connection_is_over(client->connection));
}

static void feed(Client *client, const void *bytes, size_t n)
{
        if (!query_connection_wants_input(client->connection)) {
                run(client);
                read_output(client);
        }
        query_connection_feed(client->connection, bytes, n);
}

/* Reads a u16; mostly few rows, because inputs must be fast. */
static size_t take_n_rows(FuzzInput *input, size_t usual)
{
        size_t n = (size_t)fuzz_take(input, 2);

        return n >> 8 == MANY_ROWS ? MAX_ROWS / 256 * (n % 256 + 1) : 1 + n % usual;
}

static BulkQuery take_row(FuzzInput *input)
{
        BulkQuery row = {.pid = 98 + (int32_t)(fuzz_take(input, 1) % 8),
                         .flags = (uint32_t)fuzz_take(input, 1) % 8};

        row.pid_ns = row.flags / 4;
        row.address = fuzz_take(input, 2);
        row.time = fuzz_take(input, 2);
        return row;
}

/* Reads the rows that repeat in a query of N rows: u8 number, then pid, flags, u16 address, u16
 * time. Returns their number. */
static size_t take_rows(FuzzInput *input, BulkQuery *rows, size_t n)
{
        size_t n_given = 1 + fuzz_take(input, 1) % MAX_GIVEN_ROWS, i;

        n_given = MIN(n_given, n);
        for (i = 0; i < n_given; i++)
                rows[i] = take_row(input);
        return n_given;
}

static void feed_queries(Client *client, FuzzInput *input)
{
        g_autofree BulkQuery *rows = g_new0(BulkQuery, MAX_ROWS);
        uint32_t wait_ms = (uint32_t)fuzz_take(input, 2);
        size_t n = take_n_rows(input, USUAL_BINARY_ROWS), n_given = take_rows(input, rows, n), i;
        const BulkHeader header = {.size = (uint32_t)(n * sizeof(BulkQuery)),
                                   .type = BULK_QUERIES,
                                   .tag = 7,
                                   .wait_ms = wait_ms};

        for (i = n_given; i < n; i++)
                rows[i] = rows[i - n_given];
        feed(client, &header, sizeof(header));
        feed(client, rows, header.size);
}

static char *row_text(const BulkQuery *row)
{
        GString *text = g_string_new(NULL);

        g_string_append_printf(text, "{\"pid\":%d,\"addr\":\"%#x\"", row->pid,
                               (unsigned)row->address);
        if (row->flags & BULK_QUERY_PID_NS)
                g_string_append_printf(text, ",\"pid_ns\":%" G_GUINT64_FORMAT, row->pid_ns);
        if (row->flags & BULK_QUERY_TIME)
                g_string_append_printf(text, ",\"time\":%" G_GUINT64_FORMAT, row->time);
        g_string_append_c(text, '}');
        return g_string_free(text, FALSE);
}

static void feed_resolve(Client *client, FuzzInput *input)
{
        BulkQuery rows[MAX_GIVEN_ROWS];
        char *texts[MAX_GIVEN_ROWS];
        g_autoptr(GString) call = g_string_new("{\"method\":\"org.clrsym.Symbolizer.Resolve\",");
        uint32_t wait_ms = (uint32_t)fuzz_take(input, 2);
        size_t n = take_n_rows(input, USUAL_ROWS), n_given = take_rows(input, rows, n), i;

        for (i = 0; i < n_given; i++)
                texts[i] = row_text(&rows[i]);
        g_string_append_printf(call, "\"parameters\":{\"wait_ms\":%u,\"queries\":[", wait_ms);
        for (i = 0; i < n; i++) {
                if (i)
                        g_string_append_c(call, ',');
                g_string_append(call, texts[i % n_given]);
        }
        g_string_append(call, "]}}");
        for (i = 0; i < n_given; i++)
                g_free(texts[i]);
        feed(client, call->str, call->len + 1);
}

static void feed_upgrade(Client *client, FuzzInput *input)
{
        g_autofree char *call = g_strdup_printf(
                "{\"method\":\"org.clrsym.Symbolizer.Bulk\",\"parameters\":{\"version\":%u},"
                "\"upgrade\":true}",
                (unsigned)fuzz_take(input, 1) % 5);

        feed(client, call, strlen(call) + 1);
}

static void take_event(Client *client, FuzzInput *input)
{
        const Load load = {.time = client->now,
                           .pid = 100,
                           .start = 0x1000 + fuzz_take(input, 1),
                           .size = 1 + (uint32_t)fuzz_take(input, 1),
                           .name = "New"};

        client->now += 2;
        if (!client->stream)
                return;
        apply(client->tracker, client->stream, load.size & 1 ? UNLOAD : LOAD, &load);
        tracker_apply_progress(client->tracker, client->stream, load.time + 1);
        tracker_commit(client->tracker);
}

static void take_step(Client *client, FuzzInput *input)
{
        StepKind kind = (StepKind)(fuzz_take(input, 1) % N_STEP_KINDS);
        FuzzInput part = {0};

        switch (kind) {
        case STEP_CALL:
        case STEP_BYTES:
                part = fuzz_take_part(input, fuzz_take(input, 2));
                feed(client, part.at, part.n);
                if (kind == STEP_CALL)
                        feed(client, "", 1);
                break;
        case STEP_RESOLVE:
                feed_resolve(client, input);
                break;
        case STEP_QUERIES:
                feed_queries(client, input);
                break;
        case STEP_UPGRADE:
                feed_upgrade(client, input);
                break;
        case STEP_EVENT:
                take_event(client, input);
                break;
        case STEP_RUN:
                client->now_ms += (int64_t)fuzz_take(input, 2);
                run(client);
                break;
        case STEP_READ:
        case N_STEP_KINDS:
                read_output(client);
                break;
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        uint8_t flags = (uint8_t)fuzz_take(&input, 1);
        Client client = {.now_ms = 1000, .now = 100};
        const TrackerObserver observer = {note_body, note_epoch, &client};
        QueryStats stats = {0};
        QueryContext context = {.viewer = {.sees_all = flags & SEES_ALL, .uid = 1000},
                                .is_live = flags & IS_LIVE,
                                .stats = &stats};
        unsigned n_steps = 0;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        client.tracker = flags & IS_LARGE ? large_tracker((flags & IS_STORM) == IS_STORM)
                                          : small_tracker(&client.stream);
        if (flags & FINDS_PIDS)
                context.viewer.find = find_pid;
        context.tracker = client.tracker;
        client.connection = query_connection_new(&context);
        tracker_observe(client.tracker, &observer);
        while (input.n > 0 && n_steps++ < 40)
                take_step(&client, &input);
        /* Waiting calls are answered when their time is over. */
        client.now_ms += 2 * (int64_t)QUERY_MAX_WAIT_MS;
        run(&client);
        read_output(&client);
        tracker_observe(client.tracker, NULL);
        query_connection_free(client.connection);
        if (client.stream)
                tracker_free(client.tracker);
        return 0;
}
