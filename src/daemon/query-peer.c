/* SPDX-License-Identifier: MIT */
#include "daemon/query-peer.h"

#include "daemon/seen-process.h"
#include "util/fd.h"
#include "util/proc.h"

#include <unistd.h>

/* ms until a timeout, for the rest of a message, or for reading a reply. */
#define TIMEOUT_MS 5000

struct QueryPeer {
        QueryPeerOptions options;
        Peer *peer;                  /* owned */
        QueryConnection *connection; /* owned */
        uid_t uid;
        pid_t pid;       /* in the daemon's own pid namespace; 0: it is outside */
        uint64_t pid_ns; /* its own */
        SeenProcess process;
        bool is_privileged; /* sees every process, and always gets a place */
        bool is_watching;
        gint64 connected, last_active; /* us */
};

/*
 * The process with pid PID in the client's namespace, while the client itself lives: later another
 * process may have the client's pid. The lookup in /proc takes longer than the rest of an answer.
 */
static bool query_peer_find(void *data, int32_t pid, ProcessKey *ret_key)
{
        QueryPeer *self = data;

        return pid > 0 && seen_process_lives(&self->process, g_get_monotonic_time()) &&
               pid_cache_find(self->options.pids, self->uid, self->pid_ns, pid, ret_key);
}

static QueryConnection *query_peer_connect(QueryPeer *self, const PeerCredentials *credentials)
{
        QueryContext context = self->options.context;
        ProcInfo info;

        context.viewer = (Viewer){
                .uid = credentials->uid,
                /* A client that may read the daemon's memory may see all answers, too. */
                .sees_all = self->is_privileged,
        };
        if (proc_read(self->pid, &info) && seen_process_lives(&self->process, self->connected)) {
                self->pid_ns = info.levels[info.n_levels - 1].pid_ns;
                context.viewer.pid_ns = self->pid_ns;
                context.viewer.find = query_peer_find;
                context.viewer.data = self;
        }
        return query_connection_new(&context);
}

static void query_peer_moved(void *data)
{
        QueryPeer *self = data;
        const QueryWait *wait = query_connection_wait(self->connection);

        if (wait)
                self->options.waits(self->options.data, wait);
        if (!query_connection_is_idle(self->connection))
                self->last_active = g_get_monotonic_time();
        if (self->options.context.memory->n_bytes > self->options.context.memory->limit)
                self->options.filled(self->options.data);
        if (self->is_watching || !query_connection_is_watching(self->connection))
                return;
        self->is_watching = true;
        self->options.watches(self->options.data);
}

static void query_peer_gone(Peer *peer, void *data)
{
        QueryPeer *self = data;

        self->options.gone(self, self->options.data);
}

static const PeerRole QUERY_ROLE = {
        .name = "query",
        .gone = query_peer_gone,
        .moved = query_peer_moved,
        .timeout_ms = TIMEOUT_MS,
};

QueryPeer *query_peer_new(int fd, const QueryPeerOptions *options)
{
        PeerCredentials credentials;
        QueryPeer *self;

        if (!peer_credentials(fd, options->group, &credentials)) {
                fd_clear(&fd);
                return NULL;
        }
        self = g_new0(QueryPeer, 1);
        self->options = *options;
        self->uid = credentials.uid;
        self->is_privileged =
                credentials.uid == 0 || credentials.uid == geteuid() || credentials.is_in_group;
        self->connected = self->last_active = g_get_monotonic_time();
        self->pid = credentials.pid;
        self->process = seen_process_open(credentials.pid);
        self->connection = query_peer_connect(self, &credentials);
        self->peer =
                peer_new(fd, &QUERY_ROLE, query_connection_conversation(self->connection), self);
        return self;
}

void query_peer_free(QueryPeer *self)
{
        if (!self)
                return;
        peer_free(self->peer);
        query_connection_free(self->connection);
        seen_process_clear(&self->process);
        g_free(self);
}

uid_t query_peer_uid(const QueryPeer *self)
{
        return self->uid;
}

Peer *query_peer_peer(const QueryPeer *self)
{
        return self->peer;
}

QueryConnection *query_peer_connection(const QueryPeer *self)
{
        return self->connection;
}

bool query_peer_is_privileged(const QueryPeer *self)
{
        return self->is_privileged;
}

int64_t query_peer_idle_since(const QueryPeer *self)
{
        return query_connection_is_idle(self->connection) ? self->last_active : 0;
}

int64_t query_peer_connected(const QueryPeer *self)
{
        return self->connected;
}
