/* SPDX-License-Identifier: MIT */
#include "daemon/peer.h"

#include <errno.h>
#include <glib-unix.h>
#include <grp.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)

/*
 * One source for all that a peer waits for, and changed only where that changes: for one short
 * question, sources that come and go would cost more than the answer.
 */
typedef struct PeerSource {
        GSource source;
        Peer *peer;
        gpointer tag; /* of the socket */
        GIOCondition condition;
        gint64 ready_time; /* us, or -1 */
} PeerSource;

/* Deadlines are in ms of the steady clock; 0: there is none. */
struct Peer {
        int fd;
        const PeerRole *role;
        void *session; /* owned */
        void (*gone)(Peer *peer, void *data);
        void *data;
        PeerSource *source; /* owned */
        int64_t again;      /* then the session is to run again */
        int64_t reading;    /* then the rest of a message must have come */
        int64_t writing;    /* then some output must have been taken */
        bool is_draining;
        bool is_gone;
};

static void update(Peer *peer);

static int64_t now_ms(void)
{
        return g_get_monotonic_time() / 1000;
}

static void end(Peer *peer)
{
        if (peer->is_gone)
                return;
        peer->is_gone = true;
        peer->gone(peer, peer->data);
}

/* Sends what the socket takes. Returns false if the peer is gone. */
static bool flush(Peer *peer)
{
        const uint8_t *bytes;
        size_t n;
        ssize_t sent;

        while ((bytes = peer->role->output(peer->session, &n)) && n) {
                sent = send(peer->fd, bytes, n, MSG_NOSIGNAL);
                if (sent < 0 && errno == EINTR)
                        continue;
                if (sent < 0 && errno == EAGAIN)
                        return true;
                if (sent < 0)
                        return false;
                peer->writing = 0;
                peer->role->sent(peer->session, (size_t)sent);
        }
        return true;
}

/* False if the peer is gone. */
static bool receive(Peer *peer)
{
        static uint8_t buffer[READ_SIZE];
        size_t size = peer->role->read_size ? peer->role->read_size : sizeof(buffer);
        ssize_t n = recv(peer->fd, buffer, MIN(size, sizeof(buffer)), 0);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return true;
        if (n < 0)
                return false;
        if (n == 0) /* a client may close its side and still wait for the replies */
                peer->is_draining = true;
        else
                peer->role->feed(peer->session, buffer, (size_t)n);
        return true;
}

static bool is_over(int64_t deadline, int64_t now)
{
        return deadline && now >= deadline;
}

static gboolean dispatch(GSource *source, GSourceFunc callback, gpointer user_data)
{
        PeerSource *self = (PeerSource *)source;
        Peer *peer = self->peer;
        GIOCondition events = g_source_query_unix_fd(source, self->tag);
        int64_t now = now_ms();

        /* Not watched for input, it can still go away altogether: no reply is of use then. */
        if (events & self->condition & G_IO_IN ? !receive(peer) : events & (G_IO_HUP | G_IO_ERR)) {
                end(peer);
        } else if (is_over(peer->reading, now) || is_over(peer->writing, now)) {
                peer_log(peer, G_LOG_LEVEL_MESSAGE,
                         "%s peer took too long, hung up:", peer->role->name);
                end(peer);
        } else {
                peer_run(peer);
        }
        return G_SOURCE_CONTINUE;
}

static GSourceFuncs SOURCE_FUNCS = {.dispatch = dispatch};

Peer *peer_new(int fd, const PeerRole *role, void *session, void (*gone)(Peer *, void *),
               void *data)
{
        Peer *peer = g_new0(Peer, 1);

        peer->fd = fd;
        peer->role = role;
        peer->session = session;
        peer->gone = gone;
        peer->data = data;
        peer->source = (PeerSource *)g_source_new(&SOURCE_FUNCS, sizeof(PeerSource));
        peer->source->peer = peer;
        peer->source->condition = 0;
        peer->source->ready_time = -1;
        peer->source->tag = g_source_add_unix_fd(&peer->source->source, fd, 0);
        /* It never does, but to be kept from it costs two system calls a dispatch. */
        g_source_set_can_recurse(&peer->source->source, TRUE);
        g_source_attach(&peer->source->source, NULL);
        update(peer);
        return peer;
}

void peer_free(Peer *peer)
{
        if (!peer)
                return;
        g_source_destroy(&peer->source->source);
        g_source_unref(&peer->source->source);
        close(peer->fd);
        peer->role->free(peer->session);
        g_free(peer);
}

/* A time for what the peer owes, from when it begins to owe it. */
static void limit(const Peer *peer, int64_t *deadline, bool is_owing, int64_t now)
{
        if (!is_owing)
                *deadline = 0;
        else if (peer->role->timeout_ms && !*deadline)
                *deadline = now + peer->role->timeout_ms;
}

static void watch(PeerSource *source, GIOCondition condition, int64_t deadline)
{
        gint64 ready_time = deadline == INT64_MAX ? -1 : deadline * 1000;

        if (condition != source->condition)
                g_source_modify_unix_fd(&source->source, source->tag, condition);
        if (ready_time != source->ready_time)
                g_source_set_ready_time(&source->source, ready_time);
        source->condition = condition;
        source->ready_time = ready_time;
}

/* Watches what is to be watched, and ends a peer that has nothing left to do. */
static void update(Peer *peer)
{
        bool is_ending = peer->is_draining || peer->role->is_over(peer->session);
        bool wants_input = !is_ending && peer->role->wants_input(peer->session);
        int64_t now = now_ms(), deadline = INT64_MAX;
        const int64_t *deadlines[] = {&peer->again, &peer->reading, &peer->writing};
        size_t n_output, i;

        peer->role->output(peer->session, &n_output);
        if (is_ending && !n_output && !peer->again) {
                end(peer);
                return;
        }
        limit(peer, &peer->reading, wants_input && peer->role->is_partial(peer->session), now);
        limit(peer, &peer->writing, n_output > 0, now);
        for (i = 0; i < G_N_ELEMENTS(deadlines); i++)
                if (*deadlines[i])
                        deadline = MIN(deadline, *deadlines[i]);
        watch(peer->source, (wants_input ? G_IO_IN : 0) | (n_output ? G_IO_OUT : 0) | G_IO_HUP,
              deadline);
}

void peer_run(Peer *peer)
{
        size_t n_before, n_ready, n_after;
        int wait_ms;

        do { /* output that was sent makes room for further answers */
                peer->role->output(peer->session, &n_before);
                wait_ms = peer->role->run(peer->session, now_ms());
                peer->role->output(peer->session, &n_ready);
                /* A message was whole, and answered: the next one has its own time. */
                if (n_ready > n_before)
                        peer->reading = 0;
                if (!flush(peer)) {
                        end(peer);
                        return;
                }
                peer->role->output(peer->session, &n_after);
        } while (n_ready && !n_after && wait_ms != 0); /* 0: it is others' turn */
        peer->again = wait_ms >= 0 ? now_ms() + wait_ms + 1 : 0;
        update(peer);
}

void peer_drain(Peer *peer)
{
        peer->is_draining = true;
        peer_run(peer);
}

void *peer_session(const Peer *peer)
{
        return peer->session;
}

void peer_log(const Peer *peer, GLogLevelFlags level, const char *format, ...)
{
        struct ucred credentials = {.uid = (uid_t)-1};
        socklen_t n = sizeof(credentials);
        g_autofree char *text = NULL, *pid = NULL, *uid = NULL;
        va_list arguments;

        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        getsockopt(peer->fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n);
        pid = g_strdup_printf("%d", (int)credentials.pid);
        uid = g_strdup_printf("%u", (unsigned)credentials.uid);
        g_log_structured(G_LOG_DOMAIN, level, "CLRSYM_PID", pid, "CLRSYM_UID", uid, "CLRSYM_SOCKET",
                         peer->role->name, "MESSAGE", "%s pid=%s uid=%s", text, pid, uid);
}

bool peer_credentials(int fd, const char *group, PeerCredentials *ret_credentials)
{
        const struct group *wanted = getgrnam(group);
        struct ucred credentials;
        socklen_t n = sizeof(credentials), n_groups = 0;
        g_autofree gid_t *groups = NULL;
        size_t i;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n) < 0)
                return false;
        *ret_credentials = (PeerCredentials){credentials.pid, credentials.uid,
                                             wanted && credentials.gid == wanted->gr_gid};
        if (!wanted || ret_credentials->is_in_group)
                return true;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &n_groups) == 0 || errno != ERANGE)
                return true;
        groups = g_malloc(n_groups);
        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &n_groups) < 0)
                return true;
        for (i = 0; i < n_groups / sizeof(*groups); i++)
                ret_credentials->is_in_group |= groups[i] == wanted->gr_gid;
        return true;
}
