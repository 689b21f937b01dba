/* SPDX-License-Identifier: MIT */

/*
 * A merger between readers and a daemon, all in this process
 */

#include "feed/merger.h"

#include "support/suite.h"
#include "util/byte-pump.h"
#include "util/listener.h"
#include "wire/ingest-client.h"
#include "wire/ingest-connection.h"

#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { TIMEOUT_S = 50 };

/* A daemon with one feeder. */
typedef struct Daemon {
        char *directory, *path; /* owned */
        Listener *listener;
        Tracker *tracker;
        IngestConnection *connection;
        BytePump *channel;
} Daemon;

static void daemon_on_input(void *data)
{
        Daemon *daemon = data;
        GByteArray *input = byte_pump_input(daemon->channel),
                   *output = ingest_connection_output(daemon->connection);

        ingest_connection_feed(daemon->connection, input->data, input->len);
        g_byte_array_set_size(input, 0);
        g_byte_array_append(byte_pump_output(daemon->channel), output->data, output->len);
        g_byte_array_set_size(output, 0);
        byte_pump_flush(daemon->channel);
}

static void on_closed(void *data)
{
}

static void daemon_on_accept(void *data, int fd)
{
        static const BytePumpCalls CALLS = {daemon_on_input, on_closed};
        Daemon *daemon = data;

        ck_assert_ptr_null(daemon->channel);
        daemon->connection = ingest_connection_new(daemon->tracker, false);
        daemon->channel = byte_pump_new(fd, &CALLS, daemon);
}

static void daemon_init(Daemon *daemon)
{
        g_autoptr(GError) error = NULL;

        *daemon = (Daemon){.directory = g_dir_make_tmp("clrsym-XXXXXX", NULL),
                           .tracker = tracker_new()};
        daemon->path = g_build_filename(daemon->directory, "ingest", NULL);
        daemon->listener =
                listener_new(daemon->path, 0600, NULL, -1, daemon_on_accept, daemon, &error);
        ck_assert_ptr_nonnull(daemon->listener);
}

static void daemon_deinit(Daemon *daemon)
{
        byte_pump_free(daemon->channel);
        ingest_connection_free(daemon->connection);
        listener_free(daemon->listener);
        tracker_free(daemon->tracker);
        rmdir(daemon->directory);
        g_free(daemon->directory);
        g_free(daemon->path);
}

/* babeltrace2 with sink.clrsym.feed. */
typedef struct FakeReader {
        IngestClient *client;
        BytePump *channel;
        unsigned n_committed;
} FakeReader;

static void reader_on_input(void *data)
{
        FakeReader *reader = data;
        GByteArray *input = byte_pump_input(reader->channel);
        IngestClientEvent event;

        ingest_client_feed(reader->client, input->data, input->len);
        g_byte_array_set_size(input, 0);
        while ((event = ingest_client_next(reader->client, NULL)) != INGEST_CLIENT_NOTHING) {
                ck_assert_int_ne(event, INGEST_CLIENT_BROKEN);
                reader->n_committed += event == INGEST_CLIENT_COMMITTED;
        }
}

static void reader_init(FakeReader *reader, int fd)
{
        static const BytePumpCalls CALLS = {reader_on_input, on_closed};

        *reader = (FakeReader){.client = ingest_client_new("reader", false)};
        reader->channel = byte_pump_new(fd, &CALLS, reader);
        ingest_client_connect(reader->client, byte_pump_output(reader->channel));
        byte_pump_flush(reader->channel);
}

static void reader_deinit(FakeReader *reader)
{
        byte_pump_free(reader->channel);
        ingest_client_free(reader->client);
}

typedef struct World {
        Daemon daemon;
        StreamTable table;
        Merger *merger;
        Intake *intake;
        FakeReader reader;
        bool is_broken;
} World;

static void on_lost(void *data, const char *reason)
{
        ck_abort_msg("the daemon hung up: %s", reason);
}

static void on_held(void *data)
{
        World *world = data;

        merger_release(world->merger, merger_last_held(world->merger));
}

static void on_ended(void *data, Intake *intake, bool is_broken)
{
        ((World *)data)->is_broken |= is_broken;
}

static void on_known(void *data)
{
}

static void world_init(World *world)
{
        static const MergerCalls CALLS = {on_lost, on_held, on_ended, on_known};

        memset(world, 0, sizeof(*world));
        daemon_init(&world->daemon);
        stream_table_init(&world->table);
        world->merger = merger_new(&world->table, &CALLS, world);
        ck_assert(merger_connect(world->merger, world->daemon.path, NULL));
}

static void world_deinit(World *world)
{
        merger_free(world->merger);
        stream_table_deinit(&world->table);
        daemon_deinit(&world->daemon);
}

static void world_add_reader(World *world, IntakeMode mode)
{
        int fds[2];

        ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
        world->intake = merger_add_reader(world->merger, mode, fds[0]);
        reader_init(&world->reader, fds[1]);
}

static void world_remove_reader(World *world)
{
        merger_remove_reader(world->merger, world->intake);
        reader_deinit(&world->reader);
}

/* Runs until the reader has its answers and N_COMMITTED batches are acknowledged. */
static void world_run(World *world, unsigned n_committed)
{
        gint64 deadline = g_get_monotonic_time() + TIMEOUT_S * G_USEC_PER_SEC;

        while (!world->is_broken && (!ingest_client_is_ready(world->reader.client) ||
                                     world->reader.n_committed < n_committed)) {
                ck_assert(g_get_monotonic_time() < deadline);
                if (!g_main_context_iteration(NULL, FALSE))
                        g_usleep(100);
        }
}

/* Opens N streams from FIRST on, feeds each a record, and closes them. */
static void feed_streams(World *world, uint64_t first, unsigned n)
{
        IngestClient *client = world->reader.client;
        const Event *event = event_by_id(PROVIDER_RUNTIME, 143, 1);
        g_autofree IngestStream **streams = g_new(IngestStream *, n);
        unsigned i;

        for (i = 0; i < n; i++) {
                g_autoptr(StreamIdentity) identity = stream_identity_new();

                memcpy(identity->trace_uuid, "0123456789abcdef", 16);
                identity->stream_id = first + i;
                streams[i] = ingest_client_open(client, identity, NULL);
                ck_assert_ptr_nonnull(streams[i]);
        }
        byte_pump_flush(world->reader.channel);
        world_run(world, 0);
        for (i = 0; i < n; i++) {
                Record record = {.event = event, .time = 10, .process = {0, 100}, .tid = 100};

                record.values[event_field(event, FIELD_MethodID)].u = first + i + 1;
                record.values[event_field(event, FIELD_MethodStartAddress)].u =
                        0x1000 * (first + i);
                record.values[event_field(event, FIELD_MethodSize)].u = 16;
                ck_assert_int_eq(ingest_client_put_record(client, streams[i], &record, 10),
                                 INGEST_PUT_DONE);
                ingest_put_stream_close(ingest_client_batch(client), streams[i]->number);
        }
        ingest_client_commit(client, ingest_client_batch(client)->len, NULL);
        byte_pump_flush(world->reader.channel);
}

/* More streams in a session's life than can be open at a time, in several readers or in one. */
START_TEST(test_many_streams)
{
        static const struct {
                unsigned n_readers, n_batches;
        } CASES[] = {{3, 1}, {1, 3}};
        enum { N = 1500 };
        unsigned i, j;
        World world;

        world_init(&world);
        for (i = 0; i < CASES[_i].n_readers; i++) {
                world_add_reader(&world, INTAKE_LIVE);
                for (j = 0; j < CASES[_i].n_batches; j++) {
                        feed_streams(&world, 1 + (i + j) * N, N);
                        world_run(&world, j + 1);
                        ck_assert_msg(!world.is_broken, "reader %u, batch %u", i, j);
                }
                world_remove_reader(&world);
        }
        ck_assert_uint_eq(tracker_stats(world.daemon.tracker)->records[EVENT_KIND_METHOD_LOAD],
                          3 * N);
        world_deinit(&world);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("merger");
        TCase *tcase = tcase_create("merger");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_many_streams, 0, 2);
        suite_add_tcase(suite, tcase);
        return suite;
}
