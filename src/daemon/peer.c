/* SPDX-License-Identifier: MIT */
#include "daemon/peer.h"

#include <errno.h>
#include <glib-unix.h>
#include <grp.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)

struct Peer {
        int fd;
        const PeerRole *role;
        void *session; /* owned */
        void (*gone)(Peer *peer, void *data);
        void *data;
        guint in, out, hup; /* sources; 0: not watched */
        guint timer;        /* runs the session again */
        guint reading;      /* ends the peer unless the rest of a message comes */
        guint writing;      /* ends it unless it takes some output */
        bool is_draining;
        bool is_gone;
};

static void update(Peer *peer);

Peer *peer_new(int fd, const PeerRole *role, void *session, void (*gone)(Peer *, void *),
               void *data)
{
        Peer *peer = g_new0(Peer, 1);

        peer->fd = fd;
        peer->role = role;
        peer->session = session;
        peer->gone = gone;
        peer->data = data;
        update(peer);
        return peer;
}

void peer_free(Peer *peer)
{
        if (!peer)
                return;
        g_clear_handle_id(&peer->in, g_source_remove);
        g_clear_handle_id(&peer->out, g_source_remove);
        g_clear_handle_id(&peer->hup, g_source_remove);
        g_clear_handle_id(&peer->timer, g_source_remove);
        g_clear_handle_id(&peer->reading, g_source_remove);
        g_clear_handle_id(&peer->writing, g_source_remove);
        close(peer->fd);
        peer->role->free(peer->session);
        g_free(peer);
}

static void end(Peer *peer)
{
        if (peer->is_gone)
                return;
        peer->is_gone = true;
        peer->gone(peer, peer->data);
}

static gboolean on_impatience(gpointer data)
{
        Peer *peer = data;

        g_message("%s peer took too long: hung up", peer->role->name);
        end(peer);
        return G_SOURCE_CONTINUE; /* end() has removed it */
}

static gboolean on_hup(gint fd, GIOCondition condition, gpointer data)
{
        end(data);
        return G_SOURCE_CONTINUE; /* end() has removed it */
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
                g_clear_handle_id(&peer->writing, g_source_remove);
                peer->role->sent(peer->session, (size_t)sent);
        }
        return true;
}

static gboolean on_timer(gpointer data)
{
        Peer *peer = data;

        peer->timer = 0;
        peer_run(peer);
        return G_SOURCE_REMOVE;
}

static gboolean on_output(gint fd, GIOCondition condition, gpointer data)
{
        Peer *peer = data;

        peer->out = 0;
        peer_run(peer);
        return G_SOURCE_REMOVE;
}

static gboolean on_input(gint fd, GIOCondition condition, gpointer data)
{
        static uint8_t buffer[READ_SIZE];
        Peer *peer = data;
        ssize_t n = recv(fd, buffer, sizeof(buffer), 0);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return G_SOURCE_CONTINUE;
        if (n <= 0) {
                /* A client may close its side and still wait for the replies. */
                peer->in = 0;
                if (n == 0) {
                        peer_drain(peer);
                        return G_SOURCE_REMOVE;
                }
                end(peer);
                return G_SOURCE_REMOVE;
        }
        peer->in = 0; /* the session may not want more: update() decides */
        peer->role->feed(peer->session, buffer, (size_t)n);
        peer_run(peer);
        return G_SOURCE_REMOVE;
}

/* Starts a timer that ends the peer, or stops it. */
static void limit(Peer *peer, guint *timer, bool is_owing)
{
        if (!is_owing)
                g_clear_handle_id(timer, g_source_remove);
        else if (peer->role->timeout_ms && !*timer)
                *timer = g_timeout_add(peer->role->timeout_ms, on_impatience, peer);
}

/* Watches what is to be watched, and ends a peer that has nothing left to do. */
static void update(Peer *peer)
{
        bool is_ending = peer->is_draining || peer->role->is_over(peer->session);
        bool wants_input = !is_ending && peer->role->wants_input(peer->session);
        size_t n_output;

        peer->role->output(peer->session, &n_output);
        if (is_ending && !n_output && !peer->timer) {
                end(peer);
                return;
        }
        /* Unwatched for input, it can still go away altogether: no reply is of use then. */
        if (wants_input) {
                g_clear_handle_id(&peer->hup, g_source_remove);
                if (!peer->in)
                        peer->in = g_unix_fd_add(peer->fd, G_IO_IN | G_IO_HUP, on_input, peer);
        } else {
                g_clear_handle_id(&peer->in, g_source_remove);
                if (!peer->hup)
                        peer->hup = g_unix_fd_add(peer->fd, G_IO_HUP, on_hup, peer);
        }
        if (n_output && !peer->out)
                peer->out = g_unix_fd_add(peer->fd, G_IO_OUT, on_output, peer);
        limit(peer, &peer->reading, wants_input && peer->role->is_partial(peer->session));
        limit(peer, &peer->writing, n_output > 0);
}

void peer_run(Peer *peer)
{
        size_t n_before, n_ready, n_after;
        int wait_ms;

        do { /* output that was sent makes room for further answers */
                peer->role->output(peer->session, &n_before);
                wait_ms = peer->role->run(peer->session, g_get_monotonic_time() / 1000);
                peer->role->output(peer->session, &n_ready);
                /* A message was whole, and answered: the next one has its own time. */
                if (n_ready > n_before)
                        g_clear_handle_id(&peer->reading, g_source_remove);
                if (!flush(peer)) {
                        end(peer);
                        return;
                }
                peer->role->output(peer->session, &n_after);
        } while (n_ready && !n_after);
        g_clear_handle_id(&peer->timer, g_source_remove);
        if (wait_ms >= 0)
                peer->timer = g_timeout_add((guint)wait_ms + 1, on_timer, peer);
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
