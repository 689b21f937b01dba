/* SPDX-License-Identifier: MIT */
#include "daemon/server.h"

#include "daemon/rundown-request.h"
#include "daemon/query-peer.h"
#include "daemon/ingest-peer.h"
#include "daemon/epoch.h"
#include "daemon/horizon-request.h"
#include "daemon/metrics-file.h"
#include "daemon/process-watch.h"
#include "util/listener.h"
#include "util/proc-ns.h"
#include "util/proc.h"
#include "util/systemd.h"

#include <grp.h>
#include <inttypes.h>
#include <unistd.h>

/* Members see every process, like root. */
#define PRIVILEGED_GROUP "clrsym"
/* Members may feed. */
#define FEEDERS_GROUP "clrsym-ingest"
/* Longest drain, ms. */
#define DRAIN_MS 2000
/* s between checks for finished processes older than the retention. */
#define RETENTION_INTERVAL 10
/* Connections kept without a place: they wait for a place, or report gaps. */
#define MAX_WAITING_FEEDERS 256
/* s between two messages about one limit. */
#define LOG_INTERVAL 60
/* Bytes of all calls, and of all unread replies: more than one long reply. */
#define MAX_QUERY_MEMORY (20u << 20)

struct Server {
        Tracker *tracker; /* owned */
        Journal *journal; /* owned or NULL */
        QueryStats stats;
        QueryMemory memory;
        unsigned max_clients, max_clients_user, max_feeders;
        gid_t group;             /* PRIVILEGED_GROUP, or PEER_NO_GROUP */
        PidCache *pids;          /* owned */
        EpochStore *epochs;      /* owned */
        ProcessWatch *processes; /* owned */
        uint64_t retention;      /* s */
        Listener *ingest, *query;
        GPtrArray *feeders;    /* owned IngestPeers, in order of connection */
        gint64 evicted_logged; /* us of g_get_monotonic_time(): last log of reaching MemoryMax= */
        uint64_t n_evicted_logged; /* the count at that time */
        gint64 waiting_logged;     /* us of g_get_monotonic_time(): last log of waiting feeders; 0:
                                    * never */
        GPtrArray *clients;        /* owned QueryPeers */
        bool is_watched;           /* by at least one client */
        guint wake;                /* runs waiting clients after a change of the tracker */
        guint reclaim;             /* disconnects clients that take too much memory */
        guint retention_timer;
        MetricsFile *metrics_file;   /* owned or NULL */
        RundownRequester *requester; /* owned */
        HorizonRequester *horizons;  /* owned */
        void (*done)(void *);        /* of a drain; NULL: no drain is in progress */
        void *done_data;
        guint drain_timer;
};

static void server_drain_step(Server *server)
{
        if (server->done && !server->clients->len && !server->feeders->len) {
                g_clear_handle_id(&server->drain_timer, g_source_remove);
                server->done(server->done_data);
        }
}

static unsigned server_n_privileged(const Server *server)
{
        unsigned n = 0;
        guint i;

        for (i = 0; i < server->clients->len; i++)
                n += query_peer_is_privileged(server->clients->pdata[i]);
        return n;
}

/*
 * At the limit, if privileged clients have all places, further clients wait in the backlog; other
 * clients give way.
 */
static void server_update_accepting(Server *server)
{
        if (server->done)
                return;
        listener_set_accepting(server->query,
                               server->clients->len < server->max_clients ||
                                       server_n_privileged(server) < server->max_clients);
}

static QueryContext server_context(Server *server)
{
        return (QueryContext){.tracker = server->tracker,
                              .is_live = true,
                              .stats = &server->stats,
                              .memory = &server->memory};
}

static QueryConnection *server_connection(const Server *server, guint i)
{
        return query_peer_connection(server->clients->pdata[i]);
}

static void server_note_body(void *data, const Process *process, const Body *body, bool is_end)
{
        Server *server = data;
        guint i;

        for (i = 0; i < server->clients->len; i++) {
                QueryConnection *connection = server_connection(server, i);

                if (query_connection_is_watching(connection))
                        query_connection_note_body(connection, process, body, is_end);
        }
}

static void server_note_epoch(void *data, const Process *process)
{
        Server *server = data;
        guint i;

        for (i = 0; i < server->clients->len; i++) {
                QueryConnection *connection = server_connection(server, i);

                if (query_connection_is_watching(connection))
                        query_connection_note_epoch(connection, process);
        }
}

/* The tracker reports changes only while a client watches. */
static void server_update_watching(void *data)
{
        Server *server = data;
        const TrackerObserver observer = {server_note_body, server_note_epoch, server};
        bool is_watched = false;
        guint i;

        for (i = 0; i < server->clients->len; i++)
                is_watched |= query_connection_is_watching(server_connection(server, i));
        if (is_watched != server->is_watched)
                tracker_observe(server->tracker, is_watched ? &observer : NULL);
        server->is_watched = is_watched;
}

static gboolean server_on_wake(gpointer data)
{
        Server *server = data;
        guint i;

        server->wake = 0;
        for (i = 0; i < server->clients->len; i++) {
                QueryPeer *client = server->clients->pdata[i];

                if (query_connection_may_go_on(query_peer_connection(client)))
                        peer_wake(query_peer_peer(client));
        }
        return G_SOURCE_REMOVE;
}

/* Waiting clients are answered soon, not after every change of the tracker. */
static void server_wake_waiting(Server *server)
{
        if (!server->wake && server->clients->len)
                server->wake = g_timeout_add(1, server_on_wake, server);
}

/* The tracker may have changed. */
static void server_wake_clients(void *data)
{
        Server *server = data;

        epoch_store_note(server->epochs, tracker_last_epoch(server->tracker));
        rundown_requester_wake(server->requester);
        process_watch_wake(server->processes);
        server_wake_waiting(server);
}

static void server_client_waits(void *data, const QueryWait *wait)
{
        const Server *server = data;

        horizon_requester_want(server->horizons, wait);
}

static bool server_is_own_uid(uid_t uid)
{
        return uid == 0 || uid == geteuid();
}

/* The number of feeders with a place, of UID or of all users. */
static unsigned server_n_places(const Server *server, const uid_t *uid)
{
        unsigned n = 0;
        guint i;

        for (i = 0; i < server->feeders->len; i++) {
                const IngestPeer *feeder = server->feeders->pdata[i];

                n += ingest_peer_has_place(feeder) && (!uid || ingest_peer_uid(feeder) == *uid);
        }
        return n;
}

/* The places of a user other than root and the daemon's own: a quarter. */
static unsigned server_feeder_share(const Server *server)
{
        return MAX(1, server->max_feeders / 4);
}

/* N_PLACES: places taken by all feeders. */
static bool server_has_place_for(const Server *server, unsigned n_places, uid_t uid)
{
        return n_places < server->max_feeders &&
               (server_is_own_uid(uid) ||
                server_n_places(server, &uid) < server_feeder_share(server));
}

/* Gives free places to waiting feeders, first come, first served. */
static void server_update_feeders(Server *server)
{
        QueryStats *stats = &server->stats;
        unsigned n_places = server_n_places(server, NULL);
        guint i;

        stats->n_waiting_feeders = 0;
        for (i = 0; i < server->feeders->len; i++) {
                IngestPeer *feeder = server->feeders->pdata[i];

                if (!ingest_peer_has_place(feeder) &&
                    server_has_place_for(server, n_places, ingest_peer_uid(feeder))) {
                        ingest_peer_give_place(feeder);
                        n_places++;
                }
                stats->n_waiting_feeders +=
                        ingest_connection_wants_place(ingest_peer_connection(feeder));
        }
        stats->n_feeders = n_places;
        stats->max_feeders = server->max_feeders;
}

/* FEEDER has no place. Without a message nobody would know why its process has no names. */
static void server_log_waiting(Server *server, const IngestPeer *feeder)
{
        const gint64 now = g_get_monotonic_time();
        const uid_t uid = ingest_peer_uid(feeder);

        if (server->waiting_logged &&
            now - server->waiting_logged < LOG_INTERVAL * G_TIME_SPAN_SECOND)
                return;
        server->waiting_logged = now;
        if (server->stats.n_feeders < server->max_feeders)
                peer_log(ingest_peer_peer(feeder), G_LOG_LEVEL_WARNING,
                         "user %u has %u feeders, a quarter of MaxFeeders=%u: %u feeders wait, and "
                         "their processes have no names yet; raise MaxFeeders= in clrsymd.conf:",
                         (unsigned)uid, server_feeder_share(server), server->max_feeders,
                         server->stats.n_waiting_feeders);
        else
                peer_log(ingest_peer_peer(feeder), G_LOG_LEVEL_WARNING,
                         "MaxFeeders=%u is reached: %u feeders wait, and their processes have no "
                         "names yet; raise MaxFeeders= in clrsymd.conf:",
                         server->max_feeders, server->stats.n_waiting_feeders);
}

/* A feeder has begun to wait for a place. */
static void server_feeder_waits(IngestPeer *feeder, void *data)
{
        Server *server = data;

        server_update_feeders(server);
        if (ingest_connection_wants_place(ingest_peer_connection(feeder)))
                server_log_waiting(server, feeder);
}

static void server_feeder_gone(IngestPeer *feeder, void *data)
{
        Server *server = data;
        const Peer *peer = ingest_peer_peer(feeder);
        const IngestConnection *connection = ingest_peer_connection(feeder);
        const FeederReport *report = ingest_connection_report(connection);
        const char *error = ingest_connection_error(connection);

        if (error)
                peer_log(peer, G_LOG_LEVEL_WARNING, "feeder refused: %s:", error);
        peer_log(peer, G_LOG_LEVEL_MESSAGE,
                 "feeder gone: batches=%" G_GUINT64_FORMAT " events=%" G_GUINT64_FORMAT
                 " dotnet=%" G_GUINT64_FORMAT " unknown=%" G_GUINT64_FORMAT
                 " decode_errors=%" G_GUINT64_FORMAT,
                 (guint64)ingest_connection_n_commits(connection), (guint64)report->events,
                 (guint64)report->dotnet_events, (guint64)report->unknown_events,
                 (guint64)report->decode_errors);
        g_ptr_array_remove(server->feeders, feeder);
        server_update_feeders(server);
        server_wake_clients(server);
        server_drain_step(server);
}

static void server_client_gone(QueryPeer *client, void *data)
{
        Server *server = data;

        g_ptr_array_remove_fast(server->clients, client);
        server->stats.n_clients = server->clients->len;
        server_update_watching(server);
        server_update_accepting(server);
        server_drain_step(server);
}

/* Disconnects the feeder that has waited longest: it reconnects; others only report gaps. */
static void server_drop_waiting(Server *server)
{
        guint i;

        for (i = 0; i < server->feeders->len; i++) {
                IngestPeer *feeder = server->feeders->pdata[i];

                if (ingest_peer_has_place(feeder))
                        continue;
                server_feeder_gone(feeder, server);
                return;
        }
}

static void server_accept_feeder(void *data, int fd)
{
        Server *server = data;
        const IngestPeerOptions options = {.tracker = server->tracker,
                                           .journal = server->journal,
                                           .stats = &server->stats,
                                           .committed = server_wake_clients,
                                           .waits = server_feeder_waits,
                                           .gone = server_feeder_gone,
                                           .data = server};

        if (server->feeders->len >= server->max_feeders + MAX_WAITING_FEEDERS)
                server_drop_waiting(server);
        g_ptr_array_add(server->feeders, ingest_peer_new(fd, &options));
        server_update_feeders(server);
        peer_log(ingest_peer_peer(g_ptr_array_index(server->feeders, server->feeders->len - 1)),
                 G_LOG_LEVEL_MESSAGE, "feeder came: feeders=%u", server->feeders->len);
}

static unsigned server_n_clients_of(const Server *server, uid_t uid)
{
        unsigned n = 0;
        guint i;

        for (i = 0; i < server->clients->len; i++)
                n += query_peer_uid(server->clients->pdata[i]) == uid;
        return n;
}

/*
 * The client that gives its place to another one: the one that has been idle longest; else the
 * oldest one of the user with the most clients, if that user has at least N_LEAST. NULL: there is
 * no such client. Privileged clients keep their places.
 */
static QueryPeer *server_find_victim(const Server *server, unsigned n_least)
{
        QueryPeer *idle = NULL, *busy = NULL;
        unsigned n_most = 0;
        guint i;

        for (i = 0; i < server->clients->len; i++) {
                QueryPeer *client = server->clients->pdata[i];
                int64_t since = query_peer_idle_since(client);
                unsigned n = server_n_clients_of(server, query_peer_uid(client));

                if (query_peer_is_privileged(client))
                        continue;
                if (since && (!idle || since < query_peer_idle_since(idle)))
                        idle = client;
                if (!busy || n > n_most ||
                    (n == n_most && query_peer_connected(client) < query_peer_connected(busy))) {
                        busy = client;
                        n_most = n;
                }
        }
        return idle ? idle : n_most >= n_least ? busy : NULL;
}

/* False: CLIENT gets no place. */
static bool server_make_place(Server *server, const QueryPeer *client)
{
        bool is_privileged = query_peer_is_privileged(client);
        uid_t uid = query_peer_uid(client);
        unsigned n_own = server_n_clients_of(server, uid);
        QueryPeer *victim;

        /* The daemon's own user sees everything, but its share is that of any user. */
        if ((!is_privileged || (uid != 0 && uid == geteuid())) && n_own >= server->max_clients_user)
                return false;
        if (server->clients->len < server->max_clients)
                return true;
        victim = server_find_victim(server, is_privileged ? 1 : n_own + 2);
        if (!victim)
                return false;
        peer_log(query_peer_peer(victim), G_LOG_LEVEL_MESSAGE,
                 "MaxClients= is reached, disconnected:");
        server_client_gone(victim, server);
        return true;
}

/* The memory of one user's clients. */
typedef struct UserMemory {
        size_t n_bytes;
        bool is_privileged;
        QueryPeer *largest;
} UserMemory;

/* uid -> owned UserMemory. */
static GHashTable *server_sum_memory(const Server *server, size_t *ret_n_unprivileged)
{
        GHashTable *users = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        guint i;

        *ret_n_unprivileged = 0;
        for (i = 0; i < server->clients->len; i++) {
                QueryPeer *client = server->clients->pdata[i];
                size_t n = query_connection_size(query_peer_connection(client));
                gpointer uid = GUINT_TO_POINTER(query_peer_uid(client));
                UserMemory *user = g_hash_table_lookup(users, uid);

                if (!user) {
                        user = g_new0(UserMemory, 1);
                        g_hash_table_insert(users, uid, user);
                }
                user->n_bytes += n;
                user->is_privileged |= query_peer_is_privileged(client);
                if (!user->largest ||
                    n > query_connection_size(query_peer_connection(user->largest)))
                        user->largest = client;
                if (!query_peer_is_privileged(client))
                        *ret_n_unprivileged += n;
        }
        return users;
}

/*
 * The largest client of the user whose clients take most. Privileged users only if the others take
 * less than half of the limit. NULL: there is no such client.
 */
static QueryPeer *server_find_largest(const Server *server)
{
        size_t n_unprivileged;
        g_autoptr(GHashTable) users = server_sum_memory(server, &n_unprivileged);
        bool is_any = n_unprivileged < server->memory.limit / 2;
        const UserMemory *largest = NULL;
        GHashTableIter iter;
        gpointer value;

        g_hash_table_iter_init(&iter, users);
        while (g_hash_table_iter_next(&iter, NULL, &value)) {
                const UserMemory *user = value;

                if ((is_any || !user->is_privileged) &&
                    (!largest || user->n_bytes > largest->n_bytes))
                        largest = user;
        }
        return largest ? largest->largest : NULL;
}

static gboolean server_on_reclaim(gpointer data)
{
        Server *server = data;

        server->reclaim = 0;
        while (server->memory.n_bytes > server->memory.limit) {
                QueryPeer *victim = server_find_largest(server);

                if (!victim)
                        break;
                peer_log(query_peer_peer(victim), G_LOG_LEVEL_MESSAGE,
                         "calls and unread replies take too much memory, disconnected:");
                server_client_gone(victim, server);
        }
        return G_SOURCE_REMOVE;
}

static void server_reclaim_memory(void *data)
{
        Server *server = data;

        if (!server->reclaim)
                server->reclaim = g_idle_add_full(G_PRIORITY_HIGH, server_on_reclaim, server, NULL);
}

static void server_accept_client(void *data, int fd)
{
        Server *server = data;
        const QueryPeerOptions options = {.context = server_context(server),
                                          .pids = server->pids,
                                          .group = server->group,
                                          .watches = server_update_watching,
                                          .waits = server_client_waits,
                                          .filled = server_reclaim_memory,
                                          .gone = server_client_gone,
                                          .data = server};
        QueryPeer *client = query_peer_new(fd, &options);

        if (!client)
                return;
        if (!server_make_place(server, client)) {
                query_peer_free(client);
                return;
        }
        g_ptr_array_add(server->clients, client);
        server->stats.n_clients = server->clients->len;
        server_update_accepting(server);
}

/* Logs evictions since the last message: names are missing then, and nobody else reports why. */
static void server_log_evicted(Server *server)
{
        const Budget *budget = tracker_budget(server->tracker);
        const Account *largest = owners_largest_below(budget->owners, NULL);
        const uint64_t n_refused = tracker_stats(server->tracker)->refused;
        const uint64_t n = budget->n_processes + budget->n_bodies + n_refused;
        const gint64 now = g_get_monotonic_time();

        if (n == server->n_evicted_logged || !largest ||
            (server->evicted_logged &&
             now - server->evicted_logged < LOG_INTERVAL * G_TIME_SPAN_SECOND))
                return;
        server->n_evicted_logged = n;
        server->evicted_logged = now;
        g_warning("MemoryMax=%" G_GSIZE_FORMAT " is reached: so far %" PRIu64
                  " processes and %" PRIu64 " methods were evicted, and %" PRIu64
                  " events refused; processes of user %u take most. Raise MemoryMax= in "
                  "clrsymd.conf",
                  budget->limit, budget->n_processes, budget->n_bodies, n_refused,
                  owners_uid(budget->owners, largest));
}

static gboolean server_on_retention(gpointer data)
{
        Server *server = data;
        unsigned max_age;

        server_log_evicted(server);
        max_age = (unsigned)MIN(server->retention / RETENTION_INTERVAL, UINT_MAX);

        if (server->retention && server->journal)
                journal_age(server->journal, max_age);
        else if (server->retention)
                tracker_age(server->tracker, max_age);
        return G_SOURCE_CONTINUE;
}

static void ingest_peer_destroy(gpointer data)
{
        ingest_peer_free(data);
}

static void query_peer_destroy(gpointer data)
{
        query_peer_free(data);
}

static bool host_uid(void *data, const ProcessKey *key, uint64_t time, uint32_t *ret_uid)
{
        uint64_t start;
        uint32_t uid;
        pid_t pid;

        if (!proc_host_pid(key->pid_ns, key->pid, &pid))
                return false;
        start = proc_start_time(pid);
        if (!start || start > time || !proc_uid(pid, &uid))
                return false;
        *ret_uid = uid;
        return true;
}

static bool host_is_running(void *data, const ProcessKey *key)
{
        pid_t pid;

        return proc_host_pid(key->pid_ns, key->pid, &pid);
}

static bool server_listen(Server *server, const char *ingest_path, const char *query_path,
                          GError **error)
{
        enum { QUERY, INGEST, N_SOCKETS };
        static const char *const NAMES[N_SOCKETS] = {[QUERY] = "query", [INGEST] = "ingest"};
        int fds[N_SOCKETS];

        systemd_listen_fds(NAMES, N_SOCKETS, fds);
        server->ingest = listener_new(ingest_path, 0660, FEEDERS_GROUP, fds[INGEST],
                                      server_accept_feeder, server, error);
        if (!server->ingest)
                return false;
        server->query = listener_new(query_path, 0666, NULL, fds[QUERY], server_accept_client,
                                     server, error);
        return server->query != NULL;
}

static void server_configure_metrics(Server *server, const Config *config)
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

/* Looked up at each start and reload, not for each client: it may take a network request. */
static gid_t server_find_group(void)
{
        const struct group *group = getgrnam(PRIVILEGED_GROUP);

        return group ? group->gr_gid : PEER_NO_GROUP;
}

void server_configure(Server *server, const Config *config)
{
        server->group = server_find_group();
        server->max_clients = (unsigned)config->max_clients;
        server->max_clients_user = (unsigned)config->max_clients_user;
        server->max_feeders = (unsigned)config->max_feeders;
        server_update_feeders(server);
        server->retention = config->retention;
        tracker_set_budget(server->tracker, config->memory_max);
        server_configure_metrics(server, config);
        rundown_requester_configure(server->requester, config->rundown_after_gap, config->holder);
        horizon_requester_configure(server->horizons, config->holder);
        server_update_accepting(server);
        server_wake_clients(server);
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

static uint64_t host_start_time(void *data, int32_t pid)
{
        return proc_start_time(pid);
}

/*
 * Reading may take longer than the service manager's start timeout: while it makes progress, this
 * asks for another minute.
 */
static void server_report_replay(void *data, uint64_t n_read, uint64_t n_bytes)
{
        g_autofree char *text =
                g_strdup_printf("EXTEND_TIMEOUT_USEC=60000000\nSTATUS=Reading the journal: %u %%",
                                (unsigned)(n_bytes ? 100 * n_read / n_bytes : 0));

        systemd_notify(text);
}

/* Clients that connect meanwhile wait until the journal has been read. */
static bool server_read_journal(Server *server, const char *path, const TrackerHost *host,
                                GError **error)
{
        static const JournalProgress progress = {server_report_replay, NULL};

        if (path)
                server->journal =
                        journal_new(path, server->tracker, host, &server->stats, &progress, error);
        return !path || server->journal;
}

static void server_process_ended(void *data, uint64_t serial, uint64_t time)
{
        Server *server = data;

        if (server->journal)
                journal_end_process(server->journal, serial, time);
        else
                tracker_end_process(server->tracker, serial, time);
        server_wake_waiting(server);
}

static void server_process_found(void *data, uint64_t serial, const char *command)
{
        Server *server = data;

        if (server->journal)
                journal_set_command(server->journal, serial, command);
        else
                tracker_set_command(server->tracker, serial, command);
}

Server *server_new(const char *ingest_path, const char *query_path, const Config *config,
                   GError **error)
{
        const TrackerHost host = {.pid_ns = proc_own_pid_ns(),
                                  .start_time = host_start_time,
                                  .uid = host_uid,
                                  .is_running = host_is_running};
        Server *server = g_new0(Server, 1);
        const ProcessWatchCalls watch = {server_process_ended, server_process_found, server};

        server->memory.limit = MAX_QUERY_MEMORY;
        server->tracker = tracker_new();
        tracker_set_budget(server->tracker, config->memory_max);
        tracker_set_host(server->tracker, &host);
        server->pids = pid_cache_new();
        server->requester = rundown_requester_new(server->tracker, &server->stats);
        server->horizons = horizon_requester_new(server->tracker);
        server->feeders = g_ptr_array_new_with_free_func(ingest_peer_destroy);
        server->clients = g_ptr_array_new_with_free_func(query_peer_destroy);
        if (!server_listen(server, ingest_path, query_path, error) ||
            !server_read_journal(server, config->state_directory, &host, error)) {
                server_free(server);
                return NULL;
        }
        server->processes = process_watch_new(server->tracker, &watch);
        server->epochs = epoch_store_new(config->state_directory);
        tracker_set_epoch(server->tracker, epoch_store_first(server->epochs));
        server->retention_timer =
                g_timeout_add_seconds(RETENTION_INTERVAL, server_on_retention, server);
        server_configure(server, config);
        return server;
}

void server_free(Server *server)
{
        if (!server)
                return;
        metrics_file_free(server->metrics_file);
        rundown_requester_free(server->requester);
        horizon_requester_free(server->horizons);
        g_clear_handle_id(&server->wake, g_source_remove);
        g_clear_handle_id(&server->reclaim, g_source_remove);
        g_clear_handle_id(&server->drain_timer, g_source_remove);
        g_clear_handle_id(&server->retention_timer, g_source_remove);
        listener_free(server->ingest);
        listener_free(server->query);
        g_ptr_array_unref(server->feeders);
        g_ptr_array_unref(server->clients);
        pid_cache_free(server->pids);
        epoch_store_free(server->epochs);
        process_watch_free(server->processes);
        journal_free(server->journal);
        tracker_free(server->tracker);
        g_free(server);
}

static gboolean server_on_drain_over(gpointer data)
{
        Server *server = data;

        server->drain_timer = 0;
        server->done(server->done_data);
        return G_SOURCE_REMOVE;
}

void server_drain(Server *server, void (*done)(void *), void *data)
{
        guint i;

        rundown_requester_configure(server->requester, 0, NULL);
        horizon_requester_configure(server->horizons, NULL);
        server->done = done;
        server->done_data = data;
        listener_set_accepting(server->ingest, false);
        listener_set_accepting(server->query, false);
        server->drain_timer = g_timeout_add(DRAIN_MS, server_on_drain_over, server);
        for (i = server->feeders->len; i-- > 0;)
                peer_drain(ingest_peer_peer(server->feeders->pdata[i]));
        for (i = server->clients->len; i-- > 0;)
                peer_drain(query_peer_peer(server->clients->pdata[i]));
        server_drain_step(server);
}
