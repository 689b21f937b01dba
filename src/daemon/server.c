/* SPDX-License-Identifier: MIT */
#include "daemon/server.h"

#include "daemon/listener.h"
#include "daemon/peer.h"
#include "daemon/proc.h"
#include "daemon/systemd.h"
#include "service/ingest-session.h"
#include "service/query-session.h"

#include <unistd.h>

/* Members see every process, as root does. */
#define PRIVILEGED_GROUP "clrsym"
/* Bytes of acknowledgements that a feeder may leave unread. */
#define MAX_UNREAD_ACKS (1u << 20)
/* ms that a drain may take. */
#define DRAIN_MS 2000

struct Server {
        Tracker *tracker; /* owned */
        Listener *ingest, *query;
        GPtrArray *feeders;   /* owned Peers */
        GPtrArray *clients;   /* owned Peers */
        guint wake;           /* runs clients that wait, after the tracker changed */
        void (*done)(void *); /* of a drain; NULL: none is under way */
        void *done_data;
        guint drain_timer;
};

/* A client of the query socket: its session, and whose it is. */
typedef struct Client {
        QuerySession *session;
        uid_t uid;
} Client;

/* A feeder: its session, and who is to know when a batch was applied. */
typedef struct Feeder {
        IngestSession *session;
        Server *server; /* borrowed */
} Feeder;

static void wake_clients(Server *server);

static void feeder_feed(void *data, const uint8_t *bytes, size_t n)
{
        Feeder *feeder = data;
        uint64_t n_commits = ingest_session_n_commits(feeder->session);

        ingest_session_feed(feeder->session, bytes, n);
        if (ingest_session_n_commits(feeder->session) != n_commits)
                wake_clients(feeder->server);
}

static int feeder_run(void *session, int64_t now_ms)
{
        return -1;
}

/* One that does not read what it is told is not listened to either. */
static bool feeder_wants_input(void *data)
{
        return ingest_session_output(((Feeder *)data)->session)->len <= MAX_UNREAD_ACKS;
}

static bool feeder_is_over(void *data)
{
        return ingest_session_error(((Feeder *)data)->session) != NULL;
}

static bool never(void *session)
{
        return false;
}

static const uint8_t *feeder_output(void *data, size_t *ret_n)
{
        const GByteArray *output = ingest_session_output(((Feeder *)data)->session);

        *ret_n = output->len;
        return output->data;
}

static void feeder_sent(void *data, size_t n)
{
        g_byte_array_remove_range(ingest_session_output(((Feeder *)data)->session), 0, (guint)n);
}

static void feeder_free(void *data)
{
        Feeder *feeder = data;

        ingest_session_free(feeder->session);
        g_free(feeder);
}

static const PeerRole FEEDER = {
        .name = "ingest",
        .feed = feeder_feed,
        .run = feeder_run,
        .wants_input = feeder_wants_input,
        .is_over = feeder_is_over,
        .is_partial = never, /* a feeder may be quiet in the middle of a batch */
        .output = feeder_output,
        .sent = feeder_sent,
        .free = feeder_free,
};

static void client_feed(void *data, const uint8_t *bytes, size_t n)
{
        query_session_feed(((Client *)data)->session, bytes, n);
}

static int client_run(void *data, int64_t now_ms)
{
        return query_session_run(((Client *)data)->session, now_ms);
}

static bool client_wants_input(void *data)
{
        return query_session_wants_input(((Client *)data)->session);
}

static bool client_is_over(void *data)
{
        return query_session_is_over(((Client *)data)->session);
}

static bool client_is_partial(void *data)
{
        return query_session_is_partial(((Client *)data)->session);
}

static const uint8_t *client_output(void *data, size_t *ret_n)
{
        const GString *output = query_session_output(((Client *)data)->session);

        *ret_n = output->len;
        return (const uint8_t *)output->str;
}

static void client_sent(void *data, size_t n)
{
        g_string_erase(query_session_output(((Client *)data)->session), 0, (gssize)n);
}

static void client_free(void *data)
{
        Client *client = data;

        query_session_free(client->session);
        g_free(client);
}

static const PeerRole CLIENT = {
        .name = "query",
        .feed = client_feed,
        .run = client_run,
        .wants_input = client_wants_input,
        .is_over = client_is_over,
        .is_partial = client_is_partial,
        .output = client_output,
        .sent = client_sent,
        .free = client_free,
        .timeout_ms = SERVER_TIMEOUT_MS,
};

static void drain_step(Server *server)
{
        if (server->done && !server->clients->len && !server->feeders->len) {
                g_clear_handle_id(&server->drain_timer, g_source_remove);
                server->done(server->done_data);
        }
}

static gboolean on_wake(gpointer data)
{
        Server *server = data;
        guint i;

        server->wake = 0;
        for (i = server->clients->len; i-- > 0;)
                peer_run(server->clients->pdata[i]);
        return G_SOURCE_REMOVE;
}

/* The tracker may have changed: who waits for events is answered, soon and not once a batch. */
static void wake_clients(Server *server)
{
        if (!server->wake && server->clients->len)
                server->wake = g_timeout_add(1, on_wake, server);
}

static void on_feeder_gone(Peer *peer, void *data)
{
        Server *server = data;
        const IngestSession *session = ((Feeder *)peer_session(peer))->session;
        const IngestReport *report = ingest_session_report(session);
        const char *error = ingest_session_error(session);

        if (error)
                g_warning("feeder refused: %s", error);
        g_message("feeder gone: batches=%" G_GUINT64_FORMAT " events=%" G_GUINT64_FORMAT
                  " dotnet=%" G_GUINT64_FORMAT " unknown=%" G_GUINT64_FORMAT
                  " decode_errors=%" G_GUINT64_FORMAT,
                  (guint64)ingest_session_n_commits(session), (guint64)report->events,
                  (guint64)report->dotnet_events, (guint64)report->unknown_events,
                  (guint64)report->decode_errors);
        g_ptr_array_remove_fast(server->feeders, peer);
        if (!server->done)
                listener_set_accepting(server->ingest, true);
        wake_clients(server);
        drain_step(server);
}

static void on_client_gone(Peer *peer, void *data)
{
        Server *server = data;

        g_ptr_array_remove_fast(server->clients, peer);
        if (!server->done)
                listener_set_accepting(server->query, true);
        drain_step(server);
}

static void on_feeder(void *data, int fd)
{
        Server *server = data;
        Feeder *feeder = g_new(Feeder, 1);

        *feeder = (Feeder){ingest_session_new(server->tracker, false), server};
        g_ptr_array_add(server->feeders, peer_new(fd, &FEEDER, feeder, on_feeder_gone, server));
        g_message("feeder came: feeders=%u", server->feeders->len);
        if (server->feeders->len == SERVER_MAX_FEEDERS)
                listener_set_accepting(server->ingest, false);
}

static unsigned n_clients_of(const Server *server, uid_t uid)
{
        unsigned n = 0;
        guint i;

        for (i = 0; i < server->clients->len; i++)
                n += ((Client *)peer_session(server->clients->pdata[i]))->uid == uid;
        return n;
}

static void on_client(void *data, int fd)
{
        Server *server = data;
        QueryContext context = {.tracker = server->tracker, .is_live = true};
        Client *client;
        bool in_group;
        uid_t uid;

        if (!peer_credentials(fd, &uid, PRIVILEGED_GROUP, &in_group) ||
            (uid != 0 && n_clients_of(server, uid) >= SERVER_MAX_CLIENTS_USER)) {
                close(fd);
                return;
        }
        context.uid = uid;
        /* Who could look into the daemon's memory need not be kept from its answers. */
        context.sees_all = uid == 0 || uid == geteuid() || in_group;
        client = g_new(Client, 1);
        *client = (Client){query_session_new(&context), uid};
        g_ptr_array_add(server->clients, peer_new(fd, &CLIENT, client, on_client_gone, server));
        if (server->clients->len == SERVER_MAX_CLIENTS)
                listener_set_accepting(server->query, false);
}

static void peer_destroy(gpointer data)
{
        peer_free(data);
}

Server *server_new(const char *ingest_path, const char *query_path, GError **error)
{
        Server *server = g_new0(Server, 1);

        server->tracker = tracker_new();
        /* Less than a million changes a second: the next daemon begins behind this one's last. */
        tracker_set_epoch(server->tracker, (uint64_t)g_get_real_time() / 1000000 << 20);
        tracker_set_host(server->tracker,
                         &(TrackerHost){proc_own_pid_ns(), proc_start_time, NULL});
        server->feeders = g_ptr_array_new_with_free_func(peer_destroy);
        server->clients = g_ptr_array_new_with_free_func(peer_destroy);
        server->ingest = listener_new(ingest_path, 0660, systemd_listen_fd("ingest"), on_feeder,
                                      server, error);
        if (server->ingest)
                server->query = listener_new(query_path, 0666, systemd_listen_fd("query"),
                                             on_client, server, error);
        if (!server->query) {
                server_free(server);
                return NULL;
        }
        return server;
}

void server_set_memory_max(Server *server, size_t n_bytes)
{
        tracker_set_budget(server->tracker, n_bytes);
}

void server_free(Server *server)
{
        if (!server)
                return;
        g_clear_handle_id(&server->wake, g_source_remove);
        g_clear_handle_id(&server->drain_timer, g_source_remove);
        listener_free(server->ingest);
        listener_free(server->query);
        g_ptr_array_unref(server->feeders);
        g_ptr_array_unref(server->clients);
        tracker_free(server->tracker);
        g_free(server);
}

static gboolean on_drain_over(gpointer data)
{
        Server *server = data;

        server->drain_timer = 0;
        server->done(server->done_data);
        return G_SOURCE_REMOVE;
}

void server_drain(Server *server, void (*done)(void *), void *data)
{
        guint i;

        server->done = done;
        server->done_data = data;
        listener_set_accepting(server->ingest, false);
        listener_set_accepting(server->query, false);
        server->drain_timer = g_timeout_add(DRAIN_MS, on_drain_over, server);
        for (i = server->feeders->len; i-- > 0;)
                peer_drain(server->feeders->pdata[i]);
        for (i = server->clients->len; i-- > 0;)
                peer_drain(server->clients->pdata[i]);
        drain_step(server);
}
