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

/* Its one feeder is gone. */
static void daemon_hang_up(Daemon *daemon)
{
        g_clear_pointer(&daemon->channel, byte_pump_free);
        g_clear_pointer(&daemon->connection, ingest_connection_free);
}

static void daemon_deinit(Daemon *daemon)
{
        daemon_hang_up(daemon);
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

/* Runs until CONDITION is true. */
static void world_wait(World *world, bool (*condition)(const World *world))
{
        gint64 deadline = g_get_monotonic_time() + TIMEOUT_S * G_USEC_PER_SEC;

        while (!condition(world)) {
                ck_assert(g_get_monotonic_time() < deadline);
                if (!g_main_context_iteration(NULL, FALSE))
                        g_usleep(100);
        }
}

static bool world_is_ready(const World *world)
{
        return merger_is_ready(world->merger);
}

static bool world_is_committed(const World *world)
{
        return merger_n_in_flight(world->merger) == 0;
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

static StreamIdentity *identity_new(uint64_t number)
{
        StreamIdentity *identity = stream_identity_new();

        memcpy(identity->trace_uuid, "0123456789abcdef", 16);
        identity->stream_id = number;
        return identity;
}

static void record_init(Record *record, uint64_t number, uint64_t time)
{
        const Event *event = event_by_id(PROVIDER_RUNTIME, 143, 1);

        *record = (Record){.event = event, .time = time, .process = {0, 100}, .tid = 100};
        record->values[event_field(event, FIELD_MethodID)].u = number + 1;
        record->values[event_field(event, FIELD_MethodStartAddress)].u = 0x1000 * number;
        record->values[event_field(event, FIELD_MethodSize)].u = 16;
}

/* Opens N streams from FIRST on, feeds each a record, and closes them. */
static void feed_streams(World *world, uint64_t first, unsigned n)
{
        IngestClient *client = world->reader.client;
        g_autofree IngestStream **streams = g_new(IngestStream *, n);
        unsigned i;

        for (i = 0; i < n; i++) {
                g_autoptr(StreamIdentity) identity = identity_new(first + i);

                streams[i] = ingest_client_open(client, identity, NULL);
                ck_assert_ptr_nonnull(streams[i]);
        }
        byte_pump_flush(world->reader.channel);
        world_run(world, 0);
        for (i = 0; i < n; i++) {
                Record record;

                record_init(&record, first + i, 10);
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

/* The daemon is back, and FORGETS what it had or not. */
static void world_lose_daemon(World *world, bool forgets)
{
        world_wait(world, world_is_committed);
        merger_disconnect(world->merger);
        daemon_hang_up(&world->daemon);
        if (forgets) {
                tracker_free(world->daemon.tracker);
                world->daemon.tracker = tracker_new();
        }
        ck_assert(merger_connect(world->merger, world->daemon.path, NULL));
        world_wait(world, world_is_ready);
}

/* A daemon that is back is not asked about streams that have ended: they may be too many. */
START_TEST(test_ended_streams)
{
        enum { N = 1500, N_READERS = 3 };
        unsigned i;
        World world;

        world_init(&world);
        for (i = 0; i < N_READERS; i++) {
                world_add_reader(&world, INTAKE_LIVE);
                feed_streams(&world, 1 + i * N, N);
                world_run(&world, 1);
                world_remove_reader(&world);
        }
        world_lose_daemon(&world, false);
        ck_assert_uint_eq(ingest_connection_streams(world.daemon.connection)->len, 0);
        /* There is room for new ones, and for one that goes on after all. */
        world_add_reader(&world, INTAKE_LIVE);
        feed_streams(&world, N_READERS * N, N);
        world_run(&world, 1);
        ck_assert(!world.is_broken);
        world_remove_reader(&world);
        ck_assert_uint_eq(tracker_stats(world.daemon.tracker)->records[EVENT_KIND_METHOD_LOAD],
                          (N_READERS + 1) * N - 1);
        world_deinit(&world);
}
END_TEST

/* The stream of a catch-up's probe: it has ended, and the daemon has all of it or not. */
START_TEST(test_ended_stream_on_disk)
{
        g_autoptr(StreamIdentity) identity = identity_new(1);
        bool has_all = _i == 0;
        FeedStream *stream;
        World world;

        world_init(&world);
        world_add_reader(&world, INTAKE_LIVE);
        feed_streams(&world, 1, 1);
        world_run(&world, 1);
        world_remove_reader(&world);
        world_lose_daemon(&world, !has_all);
        world_add_reader(&world, INTAKE_PROBE);
        ck_assert_ptr_nonnull(ingest_client_open(world.reader.client, identity, NULL));
        byte_pump_flush(world.reader.channel);
        world_run(&world, 0);
        world_remove_reader(&world);
        stream = stream_table_get(&world.table,
                                  &(StreamKey){.uuid = "0123456789abcdef", .stream_id = 1});
        ck_assert_int_eq(stream->state, STREAM_KNOWN);
        merger_close_ended(world.merger);
        ck_assert_int_eq(stream->state, has_all ? STREAM_WHOLE : STREAM_KNOWN);
        world_wait(&world, world_is_committed);
        world_deinit(&world);
}
END_TEST

/* What was read of a stream from disk goes to the daemon before its end. */
START_TEST(test_end_after_disk)
{
        g_autoptr(StreamIdentity) identity = identity_new(1);
        IngestStream *own;
        World world;

        world_init(&world);
        world_add_reader(&world, INTAKE_DISK);
        own = ingest_client_open(world.reader.client, identity, NULL);
        byte_pump_flush(world.reader.channel);
        world_run(&world, 0);
        ingest_put_progress(ingest_client_batch(world.reader.client), own->number, 10);
        ingest_put_progress(ingest_client_batch(world.reader.client), own->number, 50);
        ingest_client_commit(world.reader.client, ingest_client_batch(world.reader.client)->len,
                             NULL);
        byte_pump_flush(world.reader.channel);
        world_run(&world, 1);
        world_remove_reader(&world);
        stream_table_get(&world.table, &(StreamKey){.uuid = "0123456789abcdef", .stream_id = 1})
                ->disk_end = 50;

        world_add_reader(&world, INTAKE_LIVE);
        own = ingest_client_open(world.reader.client, identity, NULL);
        byte_pump_flush(world.reader.channel);
        world_run(&world, 0);
        ingest_put_progress(ingest_client_batch(world.reader.client), own->number, 20);
        ingest_put_stream_close(ingest_client_batch(world.reader.client), own->number);
        ingest_client_commit(world.reader.client, ingest_client_batch(world.reader.client)->len,
                             NULL);
        byte_pump_flush(world.reader.channel);
        world_run(&world, 1);
        merger_settle(world.merger, UINT64_MAX);
        world_wait(&world, world_is_committed);
        ck_assert_uint_eq(tracker_stats(world.daemon.tracker)->gaps, 0);
        world_remove_reader(&world);
        world_deinit(&world);
}
END_TEST

/* Damages a frame that a sink has put. */
typedef struct Damage {
        const char *what;
        IngestType type;
        size_t at; /* in the payload; 0: its length is cut to `value` */
        uint8_t value;
        bool is_broken;     /* the reader is dropped */
        uint64_t begin;     /* of the gap that it becomes */
        unsigned n_records; /* taken, of two */
} Damage;

static const Damage DAMAGES[] = {
        {"no damage", INGEST_RECORD, 0, 0, false, 0, 2},
        {"an event that is not known", INGEST_RECORD, 28, 0xee, false, 0, 1},
        {"a count that is over", INGEST_RECORD, 56, 0xff, false, 0, 2}, /* any value of a number */
        {"a string that is longer than the frame", INGEST_RECORD, 72, 0xff, false, 20, 1},
        {"a record without an event", INGEST_RECORD, 0, 28, false, 20, 1},
        {"a record without a time", INGEST_RECORD, 0, 11, true, 0, 0},
        {"a gap that ends before it begins", INGEST_GAP, 20, 1, false, 30, 2},
        {"a gap of no kind", INGEST_GAP, 4, 7, false, 30, 2},
        {"progress with too many bytes", INGEST_PROGRESS, 0, 13, true, 0, 0},
};

/* Where the frame of TYPE begins that is the last one. */
static size_t batch_find(const GByteArray *batch, IngestType type)
{
        size_t at = 0, found = SIZE_MAX;

        while (at < batch->len) {
                IngestFrame frame;
                ssize_t n = ingest_frame_next(batch->data + at, batch->len - at, &frame);

                ck_assert_int_gt(n, 0);
                if (frame.type == type)
                        found = at;
                at += (size_t)n;
        }
        ck_assert_uint_ne(found, SIZE_MAX);
        return found;
}

static void batch_damage(GByteArray *batch, const Damage *damage)
{
        size_t at = batch_find(batch, damage->type);
        static const uint8_t ZERO;
        uint32_t n;

        if (damage->at) {
                batch->data[at + INGEST_HEADER_SIZE + damage->at] = damage->value;
                return;
        }
        if (!damage->value)
                return;
        memcpy(&n, batch->data + at, sizeof(n));
        n = GUINT32_FROM_LE(n);
        if (damage->value < n)
                g_byte_array_remove_range(batch, (guint)(at + INGEST_HEADER_SIZE + damage->value),
                                          n - damage->value);
        else /* it is the last one */
                g_byte_array_append(batch, &ZERO, damage->value - n);
        n = GUINT32_TO_LE((uint32_t)damage->value);
        memcpy(batch->data + at, &n, sizeof(n));
}

/* What the daemon would hang up for costs no more than itself. */
START_TEST(test_damaged_frame)
{
        const Damage *damage = &DAMAGES[_i];
        g_autoptr(StreamIdentity) identity = identity_new(1);
        const TrackerStats *stats;
        IngestStream *own;
        GByteArray *batch;
        Record record;
        World world;
        bool has_gap = damage->begin > 0;

        world_init(&world);
        world_add_reader(&world, INTAKE_LIVE);
        own = ingest_client_open(world.reader.client, identity, NULL);
        byte_pump_flush(world.reader.channel);
        world_run(&world, 0);
        batch = ingest_client_batch(world.reader.client);
        record_init(&record, 1, 10);
        ck_assert_int_eq(ingest_client_put_record(world.reader.client, own, &record, 10),
                         INGEST_PUT_DONE);
        record_init(&record, 2, 20);
        ck_assert_int_eq(ingest_client_put_record(world.reader.client, own, &record, 20),
                         INGEST_PUT_DONE);
        if (damage->type == INGEST_GAP)
                ingest_put_gap(batch, own->number, &(StreamGap){GAP_EVENTS, 30, 40, 1});
        ingest_put_progress(batch, own->number, 50);
        batch_damage(batch, damage);
        ingest_client_commit(world.reader.client, batch->len, NULL);
        byte_pump_flush(world.reader.channel);
        world_run(&world, 1);
        ck_assert_msg(world.is_broken == damage->is_broken, "%s", damage->what);
        if (!world.is_broken)
                world_wait(&world, world_is_committed);
        stats = tracker_stats(world.daemon.tracker);
        ck_assert_msg(stats->records[EVENT_KIND_METHOD_LOAD] == damage->n_records &&
                              stats->gaps == has_gap,
                      "%s: %" G_GUINT64_FORMAT " records, %" G_GUINT64_FORMAT " gaps", damage->what,
                      stats->records[EVENT_KIND_METHOD_LOAD], stats->gaps);
        world_remove_reader(&world);
        world_deinit(&world);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("merger");
        TCase *tcase = tcase_create("merger");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_many_streams, 0, 2);
        tcase_add_test(tcase, test_ended_streams);
        tcase_add_loop_test(tcase, test_ended_stream_on_disk, 0, 2);
        tcase_add_test(tcase, test_end_after_disk);
        tcase_add_loop_test(tcase, test_damaged_frame, 0, G_N_ELEMENTS(DAMAGES));
        suite_add_tcase(suite, tcase);
        return suite;
}
