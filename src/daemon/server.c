/* SPDX-License-Identifier: MIT */
#include "daemon/server.h"

#include "daemon/again.h"
#include "daemon/client.h"
#include "daemon/feeder.h"
#include "daemon/listener.h"
#include "daemon/metrics-file.h"
#include "daemon/proc-ns.h"
#include "daemon/proc.h"
#include "daemon/systemd.h"

#include <unistd.h>

/* Members see every process, as root does. */
#define PRIVILEGED_GROUP "clrsym"
/* Members may feed. */
#define FEEDERS_GROUP "clrsym-ingest"
/* ms that a drain may take. */
#define DRAIN_MS 2000
/* s between looks for finished processes that are kept long enough. */
#define RETENTION_INTERVAL 10

struct Server {
        Tracker *tracker; /* owned */
        Journal *journal; /* owned or NULL */
        QueryStats stats;
        unsigned max_clients, max_clients_user, max_feeders;
        uint64_t retention; /* s */
        Listener *ingest, *query;
        GPtrArray *feeders; /* owned Peers */
        GPtrArray *clients; /* owned Peers */
        bool is_watched;    /* by one of the clients at least */
        guint wake;         /* runs clients that wait, after the tracker changed */
        guint retention_timer;
        MetricsFile *metrics_file; /* owned or NULL */
        Again *again;              /* owned */
        void (*done)(void *);      /* of a drain; NULL: none is under way */
        void *done_data;
        guint drain_timer;
};

static void drain_step(Server *server)
{
        if (server->done && !server->clients->len && !server->feeders->len) {
                g_clear_handle_id(&server->drain_timer, g_source_remove);
                server->done(server->done_data);
        }
}

/* Who comes when there are as many as may be waits in the backlog. */
static void update_accepting(Server *server)
{
        if (server->done)
                return;
        listener_set_accepting(server->ingest, server->feeders->len < server->max_feeders);
        listener_set_accepting(server->query, server->clients->len < server->max_clients);
}

static QueryContext server_context(Server *server)
{
        return (QueryContext){.tracker = server->tracker, .is_live = true, .stats = &server->stats};
}

static QuerySession *session_of(const Peer *peer)
{
        return client_session(peer_session(peer));
}

static void on_body(void *data, const Process *process, const Body *body, bool is_end)
{
        Server *server = data;
        guint i;

        for (i = 0; i < server->clients->len; i++)
                if (query_session_is_watching(session_of(server->clients->pdata[i])))
                        query_session_note_body(session_of(server->clients->pdata[i]), process,
                                                body, is_end);
}

static void on_epoch(void *data, const Process *process)
{
        Server *server = data;
        guint i;

        for (i = 0; i < server->clients->len; i++)
                if (query_session_is_watching(session_of(server->clients->pdata[i])))
                        query_session_note_epoch(session_of(server->clients->pdata[i]), process);
}

/* The tracker only tells what changes if somebody wants to know. */
static void update_watching(void *data)
{
        Server *server = data;
        const TrackerObserver observer = {on_body, on_epoch, server};
        bool is_watched = false;
        guint i;

        for (i = 0; i < server->clients->len; i++)
                is_watched |= query_session_is_watching(session_of(server->clients->pdata[i]));
        if (is_watched != server->is_watched)
                tracker_observe(server->tracker, is_watched ? &observer : NULL);
        server->is_watched = is_watched;
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
static void wake_clients(void *data)
{
        Server *server = data;

        again_wake(server->again);
        if (!server->wake && server->clients->len)
                server->wake = g_timeout_add(1, on_wake, server);
}

static void on_feeder_gone(Peer *peer, void *data)
{
        Server *server = data;
        const IngestSession *session = feeder_session(peer_session(peer));
        const IngestReport *report = ingest_session_report(session);
        const char *error = ingest_session_error(session);

        if (error)
                peer_log(peer, G_LOG_LEVEL_WARNING, "feeder refused: %s:", error);
        peer_log(peer, G_LOG_LEVEL_MESSAGE,
                 "feeder gone: batches=%" G_GUINT64_FORMAT " events=%" G_GUINT64_FORMAT
                 " dotnet=%" G_GUINT64_FORMAT " unknown=%" G_GUINT64_FORMAT
                 " decode_errors=%" G_GUINT64_FORMAT,
                 (guint64)ingest_session_n_commits(session), (guint64)report->events,
                 (guint64)report->dotnet_events, (guint64)report->unknown_events,
                 (guint64)report->decode_errors);
        g_ptr_array_remove_fast(server->feeders, peer);
        server->stats.n_feeders = server->feeders->len;
        update_accepting(server);
        wake_clients(server);
        drain_step(server);
}

static void on_client_gone(Peer *peer, void *data)
{
        Server *server = data;

        g_ptr_array_remove_fast(server->clients, peer);
        server->stats.n_clients = server->clients->len;
        update_watching(server);
        update_accepting(server);
        drain_step(server);
}

static void on_feeder(void *data, int fd)
{
        Server *server = data;
        Feeder *feeder =
                feeder_new(server->tracker, server->journal, &server->stats, wake_clients, server);
        Peer *peer = peer_new(fd, &FEEDER_ROLE, feeder, on_feeder_gone, server);

        g_ptr_array_add(server->feeders, peer);
        server->stats.n_feeders = server->feeders->len;
        peer_log(peer, G_LOG_LEVEL_MESSAGE, "feeder came: feeders=%u", server->feeders->len);
        update_accepting(server);
}

static unsigned n_clients_of(const Server *server, uid_t uid)
{
        unsigned n = 0;
        guint i;

        for (i = 0; i < server->clients->len; i++)
                n += client_uid(peer_session(server->clients->pdata[i])) == uid;
        return n;
}

static void on_client(void *data, int fd)
{
        Server *server = data;
        const QueryContext context = server_context(server);
        Client *client = client_new(fd, &context, PRIVILEGED_GROUP, update_watching, server);
        Peer *peer;

        if (!client) {
                close(fd);
                return;
        }
        peer = peer_new(fd, &CLIENT_ROLE, client, on_client_gone, server);
        if (client_uid(client) != 0 &&
            n_clients_of(server, client_uid(client)) >= server->max_clients_user) {
                peer_free(peer);
                return;
        }
        g_ptr_array_add(server->clients, peer);
        server->stats.n_clients = server->clients->len;
        update_accepting(server);
}

static gboolean on_retention(gpointer data)
{
        Server *server = data;
        unsigned max_age = (unsigned)MIN(server->retention / RETENTION_INTERVAL, UINT_MAX);

        if (server->retention && server->journal)
                journal_age(server->journal, max_age);
        else if (server->retention)
                tracker_age(server->tracker, max_age);
        return G_SOURCE_CONTINUE;
}

static void peer_destroy(gpointer data)
{
        peer_free(data);
}

static bool uid_of(void *data, const ProcessKey *key, uint32_t *ret_uid)
{
        pid_t pid;

        return proc_host_pid(key->pid_ns, key->pid, &pid) && proc_uid(pid, ret_uid);
}

static bool is_running(void *data, const ProcessKey *key)
{
        pid_t pid;

        return proc_host_pid(key->pid_ns, key->pid, &pid);
}

static bool listen_on(Server *server, const char *ingest_path, const char *query_path,
                      GError **error)
{
        enum { QUERY, INGEST, N_SOCKETS };
        static const char *const NAMES[N_SOCKETS] = {[QUERY] = "query", [INGEST] = "ingest"};
        int fds[N_SOCKETS];

        systemd_listen_fds(NAMES, N_SOCKETS, fds);
        server->ingest = listener_new(ingest_path, 0660, FEEDERS_GROUP, fds[INGEST], on_feeder,
                                      server, error);
        if (!server->ingest)
                return false;
        server->query = listener_new(query_path, 0666, NULL, fds[QUERY], on_client, server, error);
        return server->query != NULL;
}

static void configure_metrics(Server *server, const Config *config)
{
        QueryContext context = server_context(server);

        if (server->metrics_file && metrics_file_is(server->metrics_file, config->metrics_file,
                                                    (unsigned)config->metrics_interval))
                return;
        g_clear_pointer(&server->metrics_file, metrics_file_free);
        context.viewer.sees_all = true;
        if (config->metrics_file)
                server->metrics_file = metrics_file_new(
                        config->metrics_file, (unsigned)config->metrics_interval, &context);
}

void server_configure(Server *server, const Config *config)
{
        server->max_clients = (unsigned)config->max_clients;
        server->max_clients_user = (unsigned)config->max_clients_user;
        server->max_feeders = (unsigned)config->max_feeders;
        server->retention = config->retention;
        tracker_set_budget(server->tracker, config->memory_max);
        configure_metrics(server, config);
        again_configure(server->again, config->attach_again, config->holder);
        update_accepting(server);
        wake_clients(server);
}

char *server_status(const Server *server)
{
        const GPtrArray *processes = tracker_processes(server->tracker);
        uint64_t n_bodies = 0;
        guint i;

        for (i = 0; i < processes->len; i++)
                n_bodies += codemap_n_bodies(((const Process *)processes->pdata[i])->map);
        return g_strdup_printf(
                "Serving: processes=%u bodies=%" G_GUINT64_FORMAT " feeders=%u clients=%u",
                processes->len, (guint64)n_bodies, server->feeders->len, server->clients->len);
}

static uint64_t start_time(void *data, int32_t pid)
{
        return proc_start_time(pid);
}

/* Whoever calls by now waits until what was known is known again. */
static bool read_journal(Server *server, const char *path, const TrackerHost *host, GError **error)
{
        if (path)
                server->journal = journal_new(path, server->tracker, host, &server->stats, error);
        return !path || server->journal;
}

/* Less than a million changes a second: the next daemon begins behind this one's last. */
static uint64_t first_epoch(void)
{
        uint64_t us = (uint64_t)g_get_real_time();

        return (us / 1000000 << 20) + ((us % 1000000) << 20) / 1000000;
}

Server *server_new(const char *ingest_path, const char *query_path, const Config *config,
                   GError **error)
{
        const TrackerHost host = {.pid_ns = proc_own_pid_ns(),
                                  .start_time = start_time,
                                  .uid = uid_of,
                                  .is_running = is_running};
        Server *server = g_new0(Server, 1);

        server->tracker = tracker_new();
        tracker_set_budget(server->tracker, config->memory_max);
        tracker_set_host(server->tracker, &host);
        server->again = again_new(server->tracker, &server->stats);
        server->feeders = g_ptr_array_new_with_free_func(peer_destroy);
        server->clients = g_ptr_array_new_with_free_func(peer_destroy);
        if (!listen_on(server, ingest_path, query_path, error) ||
            !read_journal(server, config->state_directory, &host, error)) {
                server_free(server);
                return NULL;
        }
        tracker_set_epoch(server->tracker, first_epoch());
        server->retention_timer = g_timeout_add_seconds(RETENTION_INTERVAL, on_retention, server);
        server_configure(server, config);
        return server;
}

void server_free(Server *server)
{
        if (!server)
                return;
        metrics_file_free(server->metrics_file);
        again_free(server->again);
        g_clear_handle_id(&server->wake, g_source_remove);
        g_clear_handle_id(&server->drain_timer, g_source_remove);
        g_clear_handle_id(&server->retention_timer, g_source_remove);
        listener_free(server->ingest);
        listener_free(server->query);
        g_ptr_array_unref(server->feeders);
        g_ptr_array_unref(server->clients);
        journal_free(server->journal);
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

        again_configure(server->again, 0, NULL);
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
