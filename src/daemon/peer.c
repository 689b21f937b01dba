/* SPDX-License-Identifier: MIT */
#include "daemon/peer.h"

#include <errno.h>
#include <glib-unix.h>
#include <grp.h>
#include <pwd.h>
#include <sys/socket.h>
#include <unistd.h>

#define READ_SIZE (64u << 10)

struct Peer {
        int fd;
        const PeerRole *role;
        void *session; /* owned */
        void (*gone)(Peer *peer, void *data);
        void *data;
        guint in, out;  /* sources; 0: not watched */
        guint timer;    /* runs the session again */
        guint patience; /* ends the peer unless it moves */
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
        g_clear_handle_id(&peer->timer, g_source_remove);
        g_clear_handle_id(&peer->patience, g_source_remove);
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

        peer->patience = 0;
        g_message("%s peer took too long: hung up", peer->role->name);
        end(peer);
        return G_SOURCE_REMOVE;
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
                g_clear_handle_id(&peer->patience, g_source_remove);
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
        g_clear_handle_id(&peer->patience, g_source_remove);
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
        if (!peer->role->feed(peer->session, buffer, (size_t)n))
                peer->is_draining = true;
        peer_run(peer);
        return G_SOURCE_REMOVE;
}

/* Watches what is to be watched, and ends a peer that has nothing left to do. */
static void update(Peer *peer)
{
        bool wants_input = !peer->is_draining && peer->role->wants_input(peer->session);
        size_t n_output;

        peer->role->output(peer->session, &n_output);
        if (peer->is_draining && !n_output && !peer->timer) {
                end(peer);
                return;
        }
        if (wants_input && !peer->in)
                peer->in = g_unix_fd_add(peer->fd, G_IO_IN | G_IO_HUP, on_input, peer);
        else if (!wants_input)
                g_clear_handle_id(&peer->in, g_source_remove);
        if (n_output && !peer->out)
                peer->out = g_unix_fd_add(peer->fd, G_IO_OUT, on_output, peer);
        if (peer->role->timeout_ms && !peer->patience &&
            (n_output || peer->role->is_partial(peer->session)))
                peer->patience = g_timeout_add(peer->role->timeout_ms, on_impatience, peer);
}

void peer_run(Peer *peer)
{
        size_t n_before, n_after;
        int wait_ms;

        do { /* output that was sent makes room for further answers */
                wait_ms = peer->role->run(peer->session, g_get_monotonic_time() / 1000);
                peer->role->output(peer->session, &n_before);
                if (!flush(peer)) {
                        end(peer);
                        return;
                }
                peer->role->output(peer->session, &n_after);
        } while (n_before && !n_after);
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

const PeerRole *peer_role(const Peer *peer)
{
        return peer->role;
}

bool peer_credentials(int fd, uid_t *ret_uid, const char *group, bool *ret_in_group)
{
        struct ucred credentials;
        socklen_t n = sizeof(credentials);
        struct group *wanted;
        struct passwd *user;
        gid_t groups[256];
        int n_groups = G_N_ELEMENTS(groups), i;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n) < 0)
                return false;
        *ret_uid = credentials.uid;
        *ret_in_group = false;
        wanted = getgrnam(group);
        if (!wanted)
                return true;
        *ret_in_group = credentials.gid == wanted->gr_gid;
        user = *ret_in_group ? NULL : getpwuid(credentials.uid);
        if (user && getgrouplist(user->pw_name, credentials.gid, groups, &n_groups) >= 0)
                for (i = 0; i < n_groups; i++)
                        *ret_in_group |= groups[i] == wanted->gr_gid;
        return true;
}
