/* SPDX-License-Identifier: MIT */

/*
 * A whole session with an lttng-relayd, up to a real daemon: replies, each u8 command, u16 size and
 * bytes. A request gets the next reply of its command; if there is none, the relay daemon
 * disconnects. The daemon takes all records of the feeder, whatever the relay daemon replies.
 */

#include "feed/live.h"
#include "feed/viewer-wire.h"

#include "fuzz.h"
#include "util/byte-pump.h"
#include "util/listener.h"
#include "wire/ingest-connection.h"

#include <arpa/inet.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
        HEAD_SIZE = 16, /* bytes of a request's header */
        MAX_REQUESTS = 2000,
        /* us; the target does not wait for requests that the feeder repeats after a pause. */
        MAX_QUIET = 30000,
};

typedef struct World {
        char *directory, *path; /* owned: place of the daemon's socket */
        Listener *listener;
        Tracker *tracker;
        IngestConnection *connection;
        BytePump *channel;
        int relay_listener;
        uint16_t relay_port;
        int relay;      /* connection; -1: none */
        GByteArray *in; /* owned: requests */
        unsigned n_requests;
        gint64 last_request;                    /* us */
        FuzzInput replies[_VIEWER_COMMAND_MAX]; /* unread input of each command */
        StreamTable table;
        Outlet *outlet;
        PacketFeed feed;
        Live *live;
        bool has_ended;
} World;

static void daemon_on_input(void *data)
{
        World *world = data;
        GByteArray *input = byte_pump_input(world->channel),
                   *output = ingest_connection_output(world->connection);

        /* The daemon never refuses the bytes. */
        FUZZ_REQUIRE(ingest_connection_feed(world->connection, input->data, input->len));
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

static void on_lost(void *data, const char *reason)
{
        FUZZ_REQUIRE(!"the daemon hung up");
}

static void on_known(void *data)
{
        World *world = data;

        if (world->live)
                live_go_on(world->live);
}

static void on_attached(void *data)
{
}

static void on_held(void *data)
{
        World *world = data;

        live_release(world->live, live_last_held(world->live));
}

static void on_ended(void *data, LiveEnd end, const char *reason)
{
        ((World *)data)->has_ended = true;
}

static void world_remove(void);

/* Creates the listeners once. */
static World *world_get(void)
{
        static World world;
        struct sockaddr_in address = {.sin_family = AF_INET};
        socklen_t n = sizeof(address);

        if (world.listener)
                return &world;
        world.directory = g_dir_make_tmp("clrsym-fuzz-XXXXXX", NULL);
        world.path = g_build_filename(world.directory, "ingest", NULL);
        world.listener = listener_new(world.path, 0600, NULL, -1, daemon_on_accept, &world, NULL);
        FUZZ_REQUIRE(world.listener);
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        world.relay_listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        FUZZ_REQUIRE(bind(world.relay_listener, (struct sockaddr *)&address, n) == 0 &&
                     listen(world.relay_listener, 1) == 0 &&
                     getsockname(world.relay_listener, (struct sockaddr *)&address, &n) == 0);
        world.relay_port = ntohs(address.sin_port);
        world.in = g_byte_array_new();
        atexit(world_remove);
        return &world;
}

static void world_remove(void)
{
        World *world = world_get();

        listener_free(world->listener);
        g_rmdir(world->directory);
}

static void world_begin(World *world, FuzzInput input)
{
        static const OutletCalls OUTLET_CALLS = {on_lost, on_known};
        static const LiveCalls LIVE_CALLS = {on_attached, on_held, on_ended};
        const LiveSettings settings = {.host = "127.0.0.1",
                                       .port = world->relay_port,
                                       .target = "host",
                                       .session = "name"};
        unsigned i;

        world->tracker = tracker_new();
        world->connection = ingest_connection_new(world->tracker, false);
        world->relay = -1;
        world->n_requests = 0;
        world->last_request = g_get_monotonic_time();
        world->has_ended = false;
        for (i = 0; i < _VIEWER_COMMAND_MAX; i++)
                world->replies[i] = input;
        g_byte_array_set_size(world->in, 0);
        stream_table_init(&world->table);
        world->outlet = outlet_new(&world->table, &OUTLET_CALLS, world);
        FUZZ_REQUIRE(outlet_connect(world->outlet, world->path, NULL));
        packet_feed_init(&world->feed, world->outlet, EVENT_USE_ALL);
        world->live = live_new(&world->feed, &world->table, &settings, 1, &LIVE_CALLS, world, NULL);
        FUZZ_REQUIRE(world->live);
}

static void world_end(World *world)
{
        g_clear_pointer(&world->live, live_free);
        packet_feed_deinit(&world->feed);
        outlet_free(world->outlet);
        stream_table_deinit(&world->table);
        g_clear_pointer(&world->channel, byte_pump_free);
        ingest_connection_free(world->connection);
        tracker_free(world->tracker);
        if (world->relay >= 0)
                close(world->relay);
        while (g_main_context_iteration(NULL, FALSE))
                ;
}

/* Returns the next reply to COMMAND; empty: no reply. */
static FuzzInput world_reply(World *world, uint32_t command)
{
        FuzzInput *input = &world->replies[command];

        while (input->n > 0) {
                uint32_t of = (uint32_t)fuzz_take(input, 1);
                FuzzInput reply = fuzz_take_part(input, fuzz_take(input, 2));

                if (of == command)
                        return reply;
        }
        return (FuzzInput){0};
}

/* Answers the first request if it is complete. Returns false if the relay daemon disconnects. */
static bool relay_reply(World *world, bool *ret_has_request)
{
        uint64_t n_payload;
        uint32_t command;
        FuzzInput reply;

        *ret_has_request = false;
        if (world->in->len < HEAD_SIZE)
                return true;
        memcpy(&n_payload, world->in->data, sizeof(n_payload));
        memcpy(&command, world->in->data + sizeof(n_payload), sizeof(command));
        n_payload = GUINT64_FROM_BE(n_payload);
        command = GUINT32_FROM_BE(command);
        FUZZ_REQUIRE(n_payload <= 20 && command > 0 && command < _VIEWER_COMMAND_MAX);
        if (world->in->len < HEAD_SIZE + n_payload)
                return true;
        g_byte_array_remove_range(world->in, 0, (guint)(HEAD_SIZE + n_payload));
        *ret_has_request = true;
        world->last_request = g_get_monotonic_time();
        reply = world_reply(world, command);
        return reply.n > 0 && world->n_requests++ < MAX_REQUESTS &&
               send(world->relay, reply.at, reply.n, MSG_NOSIGNAL | MSG_DONTWAIT) ==
                       (ssize_t)reply.n;
}

/* Returns false after the disconnect. */
static bool relay_run(World *world)
{
        uint8_t bytes[4096];
        bool has_request;
        ssize_t n;

        if (world->relay < 0)
                world->relay = accept4(world->relay_listener, NULL, NULL, SOCK_CLOEXEC);
        if (world->relay < 0)
                return true;
        n = recv(world->relay, bytes, sizeof(bytes), MSG_DONTWAIT);
        if (n > 0)
                g_byte_array_append(world->in, bytes, (guint)n);
        do {
                if (!relay_reply(world, &has_request))
                        return false;
        } while (has_request);
        return g_get_monotonic_time() - world->last_request < MAX_QUIET;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        World *world = world_get();
        bool has_hung_up = false;

        if (size > FUZZ_MAX_INPUT)
                return 0;
        world_begin(world, (FuzzInput){data, size});
        while (!world->has_ended) {
                if (!has_hung_up && !relay_run(world)) {
                        has_hung_up = true;
                        shutdown(world->relay, SHUT_WR);
                }
                if (!g_main_context_iteration(NULL, FALSE))
                        g_usleep(20);
        }
        world_end(world);
        return 0;
}
