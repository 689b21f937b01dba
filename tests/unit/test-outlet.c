/* SPDX-License-Identifier: MIT */

/* An outlet and a daemon, both in this process */

#include "feed/outlet.h"

#include "support/suite.h"
#include "util/byte-pump.h"
#include "util/listener.h"
#include "wire/ingest-connection.h"

#include <string.h>
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

typedef struct World {
        Daemon daemon;
        StreamTable table;
        GPtrArray *identities; /* owned: identities for streams without a reader */
        Outlet *outlet;
} World;

static void on_lost(void *data, const char *reason)
{
        ck_abort_msg("the daemon hung up: %s", reason);
}

static void on_known(void *data)
{
}

static void free_identity(void *data)
{
        stream_identity_free(data);
}

static void world_init(World *world)
{
        static const OutletCalls CALLS = {on_lost, on_known};

        memset(world, 0, sizeof(*world));
        daemon_init(&world->daemon);
        stream_table_init(&world->table);
        world->identities = g_ptr_array_new_with_free_func(free_identity);
        world->outlet = outlet_new(&world->table, &CALLS, world);
        ck_assert(outlet_connect(world->outlet, world->daemon.path, NULL));
}

static void world_deinit(World *world)
{
        outlet_free(world->outlet);
        stream_table_deinit(&world->table);
        g_ptr_array_unref(world->identities);
        daemon_deinit(&world->daemon);
}

/* Runs until the daemon has answered and has acknowledged all records. */
static void world_run(World *world)
{
        gint64 deadline = g_get_monotonic_time() + TIMEOUT_S * G_USEC_PER_SEC;

        while (!outlet_is_ready(world->outlet) || outlet_n_in_flight(world->outlet) > 0) {
                ck_assert(g_get_monotonic_time() < deadline);
                if (!g_main_context_iteration(NULL, FALSE))
                        g_usleep(100);
        }
}

/* Returns a stream of the current state of its buffers' session. TRACE: a letter. */
static FeedStream *world_stream(World *world, char trace, uint64_t id)
{
        StreamIdentity *identity = stream_identity_new();
        FeedStream *stream;
        StreamKey key = {.stream_id = id};

        memset(key.uuid, trace, sizeof(key.uuid));
        stream = stream_table_get(&world->table, &key);
        memcpy(identity->trace_uuid, key.uuid, sizeof(key.uuid));
        identity->stream_id = id;
        identity->scheme = BUFFER_SCHEME_PER_UID;
        identity->uid = 1000;
        g_ptr_array_add(world->identities, identity);
        stream->identity = identity;
        ck_assert(outlet_open(world->outlet, stream));
        return stream;
}

static void put_load(World *world, OutletSource source, FeedStream *stream, uint64_t time,
                     uint64_t id)
{
        const Event *event = event_by_id(PROVIDER_RUNTIME, 143, 1);
        Record record = {.event = event, .time = time, .process = {0, 100}, .tid = 100};

        record.values[event_field(event, FIELD_MethodID)].u = id;
        record.values[event_field(event, FIELD_MethodStartAddress)].u = 0x1000 * id;
        record.values[event_field(event, FIELD_MethodSize)].u = 16;
        ck_assert(outlet_put_record(world->outlet, source, stream, &record));
}

static uint64_t n_loads(const World *world)
{
        return tracker_stats(world->daemon.tracker)->records[EVENT_KIND_METHOD_LOAD];
}

/* A session has more streams in its life than can be open at a time. */
START_TEST(test_many_streams)
{
        enum { N = 1500 };
        unsigned i, j;
        World world;

        world_init(&world);
        for (i = 0; i < 3; i++) {
                FeedStream *streams[N];

                for (j = 0; j < N; j++)
                        streams[j] = world_stream(&world, 'a', 1 + i * N + j);
                world_run(&world);
                for (j = 0; j < N; j++) {
                        streams[j]->state = STREAM_LIVE;
                        put_load(&world, _i ? OUTLET_LIVE : OUTLET_DISK, streams[j], 10,
                                 1 + i * N + j);
                        streams[j]->disk_end = 10;
                        outlet_close(world.outlet, streams[j]);
                        if (j % 100 == 0)
                                world_run(&world);
                }
                world_run(&world);
        }
        ck_assert_uint_eq(n_loads(&world), 3 * N);
        world_deinit(&world);
}
END_TEST

/* Records from disk wait for their time, and are dropped if the daemon has them. */
START_TEST(test_order)
{
        FeedStream *live, *disk;
        World world;

        world_init(&world);
        live = world_stream(&world, 'a', 1);
        disk = world_stream(&world, 'a', 2);
        world_run(&world);
        live->state = STREAM_LIVE;
        put_load(&world, OUTLET_DISK, disk, 10, 1);
        put_load(&world, OUTLET_DISK, disk, 30, 3);
        world_run(&world);
        ck_assert_uint_eq(n_loads(&world), 0);
        put_load(&world, OUTLET_LIVE, live, 20, 2);
        outlet_settle_live(world.outlet, 21, 1);
        world_run(&world);
        ck_assert_uint_eq(n_loads(&world), 2);
        ck_assert_uint_eq(live->progress, 21);
        outlet_settle_disk(world.outlet, 29);
        world_run(&world);
        ck_assert_uint_eq(n_loads(&world), 2);
        outlet_settle_disk(world.outlet, 30);
        world_run(&world);
        ck_assert_uint_eq(n_loads(&world), 3);
        ck_assert_uint_eq(disk->watermark, 30);
        /* The same records again. */
        put_load(&world, OUTLET_DISK, disk, 30, 3);
        outlet_settle_disk(world.outlet, UINT64_MAX);
        world_run(&world);
        ck_assert_uint_eq(n_loads(&world), 3);
        world_deinit(&world);
}
END_TEST

/* A batch does not end between records of equal time. */
START_TEST(test_equal_times)
{
        FeedStream *stream;
        World world;

        world_init(&world);
        stream = world_stream(&world, 'a', 1);
        world_run(&world);
        stream->state = STREAM_LIVE;
        put_load(&world, OUTLET_LIVE, stream, 10, 1);
        put_load(&world, OUTLET_LIVE, stream, 20, 2);
        outlet_settle_live(world.outlet, 20, 1);
        world_run(&world);
        ck_assert_uint_eq(n_loads(&world), 1);
        put_load(&world, OUTLET_LIVE, stream, 20, 3);
        outlet_settle_live(world.outlet, 21, 1);
        world_run(&world);
        ck_assert_uint_eq(n_loads(&world), 3);
        world_deinit(&world);
}
END_TEST

/* More records of one time than one piece of the daemon may have are a gap. */
START_TEST(test_crowd)
{
        enum { N = 20000 };
        FeedStream *stream;
        World world;
        unsigned i;

        world_init(&world);
        stream = world_stream(&world, 'a', 1);
        world_run(&world);
        stream->state = STREAM_LIVE;
        for (i = 0; i < N; i++)
                put_load(&world, OUTLET_LIVE, stream, 10, i);
        put_load(&world, OUTLET_LIVE, stream, 20, N);
        outlet_settle_live(world.outlet, 21, 1);
        world_run(&world);
        ck_assert_uint_gt(n_loads(&world), 100);
        ck_assert_uint_lt(n_loads(&world), N / 4);
        ck_assert_uint_eq(tracker_stats(world.daemon.tracker)->gaps, 1);
        world_deinit(&world);
}
END_TEST

/* Only missing records before a stream or within a stream are a gap. */
START_TEST(test_gaps)
{
        static const struct {
                uint64_t fed, begins; /* 0: no record was fed */
                bool has_earlier;     /* the same buffers were fed up to 50 in an earlier session */
                bool has_unknown_past;
                unsigned n_gaps;
        } ROWS[] = {
                {0, 100, false, false, 0},  {0, 100, true, false, 1},    {0, 100, false, true, 1},
                {90, 100, false, false, 1}, {100, 100, false, false, 0}, {110, 100, true, true, 0},
        };
        size_t i;

        for (i = 0; i < G_N_ELEMENTS(ROWS); i++) {
                FeedStream *stream, *earlier;
                World world;

                world_init(&world);
                stream = world_stream(&world, 'b', 1);
                if (ROWS[i].has_earlier) {
                        earlier = world_stream(&world, 'a', 1);
                        world_run(&world);
                        earlier->state = STREAM_LIVE;
                        put_load(&world, OUTLET_LIVE, earlier, 50, 9);
                        outlet_close(world.outlet, earlier);
                }
                world_run(&world);
                stream->state = STREAM_LIVE;
                if (ROWS[i].fed)
                        outlet_put_progress(world.outlet, OUTLET_LIVE, stream, ROWS[i].fed);
                stream->has_unknown_past = ROWS[i].has_unknown_past;
                outlet_begin(world.outlet, OUTLET_LIVE, stream, ROWS[i].begins);
                put_load(&world, OUTLET_LIVE, stream, 120, 1);
                outlet_settle_live(world.outlet, 121, 1);
                world_run(&world);
                ck_assert_msg(tracker_stats(world.daemon.tracker)->gaps == ROWS[i].n_gaps,
                              "row %zu: %" G_GUINT64_FORMAT " gaps", i,
                              (guint64)tracker_stats(world.daemon.tracker)->gaps);
                world_deinit(&world);
        }
}
END_TEST

/* Reconnects to a daemon; FORGETS: the daemon has lost all data. */
static void world_reconnect(World *world, bool forgets)
{
        outlet_disconnect(world->outlet);
        g_clear_pointer(&world->daemon.channel, byte_pump_free);
        g_clear_pointer(&world->daemon.connection, ingest_connection_free);
        if (forgets) {
                tracker_free(world->daemon.tracker);
                world->daemon.tracker = tracker_new();
        }
        ck_assert(outlet_connect(world->outlet, world->daemon.path, NULL));
        world_run(world);
}

/* An ended stream is not opened again, unless its packets are still on disk. */
START_TEST(test_ended)
{
        bool forgets = _i;
        FeedStream *ended, *other;
        World world;

        world_init(&world);
        ended = world_stream(&world, 'a', 1);
        other = world_stream(&world, 'a', 2);
        world_run(&world);
        ended->state = STREAM_LIVE;
        put_load(&world, OUTLET_LIVE, ended, 10, 1);
        outlet_settle_live(world.outlet, 11, 1);
        outlet_close(world.outlet, ended);
        world_run(&world);
        ck_assert_int_eq(ended->state, STREAM_WHOLE);
        world_reconnect(&world, forgets);
        ck_assert_int_eq(ended->state, STREAM_UNOPENED);
        ck_assert_int_eq(other->state, STREAM_KNOWN);
        /* Packets of the stream are on disk. */
        ck_assert(outlet_open(world.outlet, ended));
        world_run(&world);
        ck_assert_int_eq(ended->state, STREAM_KNOWN);
        outlet_close_ended(world.outlet);
        world_run(&world);
        ck_assert_int_eq(ended->state, forgets ? STREAM_KNOWN : STREAM_WHOLE);
        ck_assert_int_eq(other->state, STREAM_KNOWN);
        if (forgets) {
                put_load(&world, OUTLET_DISK, ended, 10, 1);
                ended->disk_end = 10;
                outlet_close_ended(world.outlet);
                ck_assert_int_eq(ended->state, STREAM_KNOWN);
                outlet_close(world.outlet, ended);
                world_run(&world);
                ck_assert_int_eq(ended->state, STREAM_WHOLE);
        }
        ck_assert_uint_eq(n_loads(&world), 1);
        world_deinit(&world);
}
END_TEST

/* After a reconnect, the outlet does not ask for ended streams, because there may be too many. */
START_TEST(test_many_ended)
{
        enum { N = 1500, N_TIMES = 3 };
        FeedStream *first = NULL;
        unsigned i, j;
        World world;

        world_init(&world);
        for (i = 0; i < N_TIMES; i++) {
                for (j = 0; j < N; j++) {
                        FeedStream *stream = world_stream(&world, 'a', 1 + i * N + j);

                        first = first ? first : stream;
                        stream->state = STREAM_LIVE;
                        put_load(&world, OUTLET_LIVE, stream, 10, 1 + i * N + j);
                        outlet_close(world.outlet, stream);
                        if (j % 100 == 0)
                                world_run(&world);
                }
                world_run(&world);
        }
        world_reconnect(&world, false);
        ck_assert_uint_eq(ingest_connection_streams(world.daemon.connection)->len, 0);
        /* New streams, and an ended stream that continues, have room. */
        ck_assert(outlet_open(world.outlet, first));
        for (j = 0; j < N; j++)
                put_load(&world, OUTLET_LIVE, world_stream(&world, 'b', 1 + j), 10,
                         1 + N_TIMES * N + j);
        world_run(&world);
        ck_assert_uint_eq(first->watermark, 10);
        put_load(&world, OUTLET_LIVE, first, 10, 1);
        put_load(&world, OUTLET_LIVE, first, 20, 1 + (N_TIMES + 1) * N);
        outlet_settle_live(world.outlet, 21, 1);
        world_run(&world);
        ck_assert_uint_eq(n_loads(&world), (N_TIMES + 1) * N + 1);
        world_deinit(&world);
}
END_TEST

/* The outlet sends records from disk before the end of their stream. */
START_TEST(test_end_after_disk)
{
        FeedStream *stream;
        World world;

        world_init(&world);
        stream = world_stream(&world, 'a', 1);
        world_run(&world);
        outlet_begin(world.outlet, OUTLET_DISK, stream, 10);
        put_load(&world, OUTLET_DISK, stream, 30, 1);
        outlet_put_progress(world.outlet, OUTLET_DISK, stream, 50);
        stream->disk_end = 50;
        stream->state = STREAM_LIVE;
        /* The live reader has an older packet. */
        outlet_begin(world.outlet, OUTLET_LIVE, stream, 20);
        outlet_close(world.outlet, stream);
        outlet_settle_disk(world.outlet, UINT64_MAX);
        world_run(&world);
        ck_assert_uint_eq(n_loads(&world), 1);
        ck_assert_uint_eq(tracker_stats(world.daemon.tracker)->gaps, 0);
        world_deinit(&world);
}
END_TEST

/* A record that the daemon would refuse becomes a gap, and the connection continues. */
START_TEST(test_refused)
{
        static const StreamGap BACK = {.kind = GAP_PACKETS, .begin = 40, .end = 30, .count = 1};
        static const Value BAD = {.data = (const uint8_t *)"\xff", .n = 1};
        const Event *event = event_by_id(PROVIDER_RUNTIME, 143, 1);
        Record record = {.event = event, .time = 20, .process = {0, 100}, .tid = 100};
        g_autofree char *large = g_strnfill(INGEST_MAX_PAYLOAD, 'x');
        const Value too_large = {.data = (const uint8_t *)large, .n = INGEST_MAX_PAYLOAD};
        OutletSource source = _i ? OUTLET_LIVE : OUTLET_DISK;
        FeedStream *stream;
        World world;
        unsigned i;

        world_init(&world);
        stream = world_stream(&world, 'a', 1);
        world_run(&world);
        stream->state = _i ? STREAM_LIVE : STREAM_KNOWN;
        for (i = 0; i < event->n_fields; i++)
                if (field_type_is_string(event->fields[i].type))
                        record.values[i] = BAD;
        put_load(&world, source, stream, 10, 1);
        ck_assert(!outlet_put_record(world.outlet, source, stream, &record));
        record.time = 25;
        record.values[event_field(event, FIELD_MethodName)] = too_large;
        ck_assert(!outlet_put_record(world.outlet, source, stream, &record));
        outlet_put_gap(world.outlet, source, stream, &BACK);
        put_load(&world, source, stream, 50, 2);
        outlet_settle_disk(world.outlet, UINT64_MAX);
        outlet_settle_live(world.outlet, 51, 1);
        world_run(&world);
        ck_assert_uint_eq(n_loads(&world), 2);
        ck_assert_uint_eq(tracker_stats(world.daemon.tracker)->gaps, 3);
        world_deinit(&world);
}
END_TEST

Suite *suite_new(void)
{
        Suite *suite = suite_create("outlet");
        TCase *tcase = tcase_create("outlet");

        tcase_set_timeout(tcase, 60);
        tcase_add_loop_test(tcase, test_many_streams, 0, 2);
        tcase_add_test(tcase, test_order);
        tcase_add_test(tcase, test_equal_times);
        tcase_add_test(tcase, test_crowd);
        tcase_add_test(tcase, test_gaps);
        tcase_add_loop_test(tcase, test_ended, 0, 2);
        tcase_add_test(tcase, test_many_ended);
        tcase_add_test(tcase, test_end_after_disk);
        tcase_add_loop_test(tcase, test_refused, 0, 2);
        suite_add_tcase(suite, tcase);
        return suite;
}
