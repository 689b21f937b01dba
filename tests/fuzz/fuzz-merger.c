/* SPDX-License-Identifier: MIT */

/*
 * Readers' frames into the merger, whose daemon is real: steps, each u8 kind, and for STEP_FRAME u8
 * reader, then a frame. Records that the daemon would refuse become gaps.
 */

#include "feed/merger.h"
#include "frames.h"
#include "util/byte-pump.h"
#include "util/listener.h"
#include "wire/ingest-connection.h"

#include <glib/gstdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
        N_READERS = 3, /* one for each mode */
        MAX_FRAMES = 1000,
};

enum {
        STEP_SETTLE,
        STEP_REMOVE_READER,
        STEP_CLOSE_STREAM,
        STEP_GIVE_UP,
        STEP_FRAME, /* and all others */
        N_STEPS = 12,
};

typedef struct World {
        char *directory, *path; /* owned */
        Listener *listener;
        Tracker *tracker;
        IngestConnection *connection;
        BytePump *channel;
        StreamTable table;
        Merger *merger;
        Intake *intakes[N_READERS];
        int fds[N_READERS]; /* the readers' ends */
        bool is_lost;
} World;

static void daemon_on_input(void *data)
{
        World *world = data;
        GByteArray *input = byte_pump_input(world->channel),
                   *output = ingest_connection_output(world->connection);

        ingest_connection_feed(world->connection, input->data, input->len);
        g_byte_array_set_size(input, 0);
        g_byte_array_append(byte_pump_output(world->channel), output->data, output->len);
        g_byte_array_set_size(output, 0);
        byte_pump_flush(world->channel);
}

static void on_closed(void *data)
{
}

static void daemon_on_accept(void *data, int fd)
{
        static const BytePumpCalls CALLS = {daemon_on_input, on_closed};
        World *world = data;

        world->channel = byte_pump_new(fd, &CALLS, world);
}

static void remove_reader(World *world, Intake *intake)
{
        unsigned i;

        for (i = 0; i < N_READERS; i++)
                if (world->intakes[i] == intake)
                        world->intakes[i] = NULL;
        merger_remove_reader(world->merger, intake);
}

static void on_lost(void *data, const char *reason)
{
        World *world = data;
        unsigned i;

        for (i = 0; i < N_READERS; i++)
                if (world->intakes[i])
                        remove_reader(world, world->intakes[i]);
        merger_disconnect(world->merger);
        world->is_lost = true;
}

static void on_held(void *data)
{
        World *world = data;

        merger_release(world->merger, merger_last_held(world->merger));
}

static void on_ended(void *data, Intake *intake, bool is_broken)
{
        remove_reader(data, intake);
}

static void on_known(void *data)
{
}

/* The listener is made once. */
static World *world_new(void)
{
        static const MergerCalls CALLS = {on_lost, on_held, on_ended, on_known};
        static World world;
        unsigned i;

        if (!world.listener) {
                world.directory = g_dir_make_tmp("clrsym-fuzz-XXXXXX", NULL);
                world.path = g_build_filename(world.directory, "ingest", NULL);
                world.listener =
                        listener_new(world.path, 0600, NULL, -1, daemon_on_accept, &world, NULL);
                FUZZ_REQUIRE(world.listener);
        }
        world.is_lost = false;
        world.tracker = tracker_new();
        world.connection = ingest_connection_new(world.tracker, false);
        stream_table_init(&world.table);
        world.merger = merger_new(&world.table, &CALLS, &world);
        FUZZ_REQUIRE(merger_connect(world.merger, world.path, NULL));
        for (i = 0; i < N_READERS; i++) {
                int fds[2];

                FUZZ_REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0,
                                        fds) == 0);
                world.fds[i] = fds[1];
                world.intakes[i] = merger_add_reader(world.merger, (IntakeMode)i, fds[0]);
        }
        return &world;
}

static void world_run(void)
{
        while (g_main_context_iteration(NULL, FALSE))
                ;
}

static void world_end(World *world)
{
        unsigned i;

        for (i = 0; i < N_READERS; i++) {
                if (world->intakes[i])
                        remove_reader(world, world->intakes[i]);
                close(world->fds[i]);
        }
        merger_free(world->merger);
        stream_table_deinit(&world->table);
        byte_pump_free(world->channel);
        world->channel = NULL;
        ingest_connection_free(world->connection);
        tracker_free(world->tracker);
        world_run();
}

static FeedStream *any_stream(World *world)
{
        GHashTableIter iter;
        void *value = NULL;

        g_hash_table_iter_init(&iter, world->table.streams);
        return g_hash_table_iter_next(&iter, NULL, &value) ? value : NULL;
}

static void send_frame(World *world, FuzzInput *input)
{
        unsigned reader = (unsigned)fuzz_take(input, 1) % N_READERS;
        g_autoptr(GByteArray) frame = g_byte_array_new();
        char replies[4096];

        fuzz_take_frame(input, frame);
        (void)!send(world->fds[reader], frame->data, frame->len, MSG_NOSIGNAL);
        while (recv(world->fds[reader], replies, sizeof(replies), 0) > 0)
                ;
}

static void take_step(World *world, FuzzInput *input)
{
        uint8_t kind = (uint8_t)fuzz_take(input, 1) % N_STEPS;
        FeedStream *stream = any_stream(world);
        unsigned reader;

        switch (kind) {
        case STEP_SETTLE:
                merger_settle(world->merger, fuzz_take(input, 2));
                break;
        case STEP_REMOVE_READER:
                reader = (unsigned)fuzz_take(input, 1) % N_READERS;
                if (world->intakes[reader])
                        remove_reader(world, world->intakes[reader]);
                break;
        case STEP_CLOSE_STREAM:
                if (stream)
                        merger_close_stream(world->merger, stream);
                break;
        case STEP_GIVE_UP:
                if (stream)
                        merger_give_up(world->merger, stream, fuzz_take(input, 2));
                break;
        default:
                send_frame(world, input);
        }
        world_run();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        FuzzInput input = {data, size};
        unsigned i, n = 0;
        World *world;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        world = world_new();
        for (i = 0; i < N_READERS; i++) {
                g_autoptr(GByteArray) hello = g_byte_array_new();

                ingest_put_hello(hello, INGEST_VERSION, "fuzz");
                FUZZ_REQUIRE(send(world->fds[i], hello->data, hello->len, MSG_NOSIGNAL) > 0);
        }
        world_run();
        while (input.n > 0 && !world->is_lost && n++ < MAX_FRAMES)
                take_step(world, &input);
        world_end(world);
        return 0;
}
