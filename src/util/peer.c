/* SPDX-License-Identifier: MIT */
#include "util/peer.h"

#include "util/libc-extras.h"

#include <errno.h>
#include <glib-unix.h>
#include <sys/socket.h>
#include <unistd.h>

/* Older headers lack it. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif

/* The largest message of most conversations is read at once, because each further read costs an
 * iteration of the main loop. */
#define READ_SIZE (256u << 10)
/* us that peers are served in one iteration of the main loop. */
#define TURN_US 10000
/* While others are served, a peer that gives way waits this many times as long as it was served, so
 * it has a third of the time. */
#define WAY_SHARE 2
/* us. Others count as being served if one of them sends something within this time after its last
 * reply. */
#define WAY_PATIENCE_US 200
/* Messages about one user in LOG_INTERVAL_US. */
#define MAX_MESSAGES    5
#define LOG_INTERVAL_US (10 * G_TIME_SPAN_SECOND)

/* One source for everything that a peer waits for, changed only when that changes: adding and
 * removing sources would cost more than answering a short question. */
typedef struct PeerSource {
        GSource source;
        Peer *peer;
        gpointer tag; /* of the socket */
        GIOCondition condition;
        gint64 ready_time; /* us, or -1: when to look at the deadlines */
} PeerSource;

/* Deadlines are in ms of the steady clock; 0: there is none. */
struct Peer {
        int fd;
        const PeerRole *role;
        Conversation *conversation; /* borrowed */
        void *data;
        PeerSource *source;       /* owned */
        int64_t again;            /* when the conversation is to run again */
        int64_t reading;          /* deadline for the rest of a message */
        int64_t writing;          /* deadline for reading some output */
        struct ucred credentials; /* as of connect(); uid -1: not known */
        bool is_queued;
        bool is_draining;
        bool is_gone;
};

/* Peers that wait for their turn. */
static struct {
        gint64 iteration; /* us: begin of the present iteration of the main loop */
        gint64 used;      /* us of it that peers have used */
        gint64 way;       /* us: until then, peers that give way wait while others are served */
        gint64 latest;    /* us: when another peer was last served */
        GQueue users;     /* owned TurnUsers that have peers, in turn */
        guint source;     /* serves them; 0: there are none */
} turns = {.users = G_QUEUE_INIT};

typedef struct TurnUser {
        uid_t uid;
        GQueue peers; /* borrowed, not empty */
} TurnUser;

static void peer_update(Peer *peer);

static int64_t now_ms(void)
{
        return g_get_monotonic_time() / 1000;
}

static const uint8_t *peer_output(const Peer *peer, size_t *ret_n)
{
        return peer->conversation->type->output(peer->conversation, ret_n);
}

static void peer_end(Peer *peer)
{
        if (peer->is_gone)
                return;
        peer->is_gone = true;
        peer->role->gone(peer, peer->data);
}

/* Sends what the socket accepts. False: the peer has gone. */
static bool peer_flush(Peer *peer)
{
        const uint8_t *bytes;
        size_t n;
        ssize_t sent;

        while ((bytes = peer_output(peer, &n)) && n) {
                sent = send(peer->fd, bytes, n, MSG_NOSIGNAL);
                if (sent < 0 && errno == EINTR)
                        continue;
                if (sent < 0 && errno == EAGAIN)
                        return true;
                if (sent < 0 && errno != EPIPE && errno != ECONNRESET)
                        peer_log(peer, G_LOG_LEVEL_WARNING,
                                 "cannot send to a %s peer: %s, disconnected:", peer->role->name,
                                 g_strerror(errno));
                if (sent < 0)
                        return false;
                peer->writing = 0;
                peer->conversation->type->sent(peer->conversation, (size_t)sent);
        }
        return true;
}

/* False: the peer has gone. */
static bool peer_receive(Peer *peer)
{
        static uint8_t buffer[READ_SIZE];
        size_t size = peer->role->read_size ? peer->role->read_size : sizeof(buffer);
        ssize_t n = recv(peer->fd, buffer, MIN(size, sizeof(buffer)), 0);

        if (n < 0 && (errno == EINTR || errno == EAGAIN))
                return true;
        if (n < 0 && errno != ECONNRESET)
                peer_log(peer, G_LOG_LEVEL_WARNING,
                         "cannot receive from a %s peer: %s, disconnected:", peer->role->name,
                         g_strerror(errno));
        if (n < 0)
                return false;
        if (n == 0) /* a client may close its side and still wait for the replies */
                peer->is_draining = true;
        else
                peer->conversation->type->feed(peer->conversation, buffer, (size_t)n);
        if (n > 0 && peer->role->moved)
                peer->role->moved(peer->data);
        return true;
}

static bool deadline_is_over(int64_t deadline, int64_t now)
{
        return deadline && now >= deadline;
}

/* A peer that is not watched for input can still leave: then replies have no use. */
static bool peer_is_left(const Peer *peer, GIOCondition events)
{
        return events & (G_IO_HUP | G_IO_ERR) && !(peer->role->finishes && peer->again);
}

/* Does what the peer is ready for. EVENTS are those of its socket. */
static void peer_serve(Peer *peer, GIOCondition events)
{
        int64_t now = now_ms();

        if (events & peer->source->condition & G_IO_IN ? !peer_receive(peer)
                                                       : peer_is_left(peer, events)) {
                peer_end(peer);
        } else if (deadline_is_over(peer->reading, now) || deadline_is_over(peer->writing, now)) {
                peer_log(peer, G_LOG_LEVEL_MESSAGE,
                         "%s peer took too long, disconnected:", peer->role->name);
                peer_end(peer);
        } else {
                peer_run(peer);
        }
}

/* True while this iteration of the main loop, which dispatches SOURCE, has time for peers. */
static bool turn_has_time(GSource *source)
{
        gint64 iteration = g_source_get_time(source);

        if (iteration != turns.iteration) {
                turns.iteration = iteration;
                turns.used = 0;
        }
        return turns.used < TURN_US;
}

static TurnUser *turn_user_find(uid_t uid)
{
        GList *at;

        for (at = turns.users.head; at; at = at->next)
                if (((TurnUser *)at->data)->uid == uid)
                        return at->data;
        return NULL;
}

static gboolean turn_dispatch(gpointer data);

static void turn_queue(Peer *peer)
{
        TurnUser *user;

        if (peer->is_queued || peer->is_gone)
                return;
        user = turn_user_find(peer->credentials.uid);
        if (!user) {
                user = g_new(TurnUser, 1);
                *user = (TurnUser){peer->credentials.uid, G_QUEUE_INIT};
                g_queue_push_tail(&turns.users, user);
        }
        g_queue_push_tail(&user->peers, peer);
        peer->is_queued = true;
        if (!turns.source)
                turns.source = g_idle_add_full(G_PRIORITY_DEFAULT, turn_dispatch, NULL, NULL);
}

static void turn_remove_user(TurnUser *user)
{
        g_queue_remove(&turns.users, user);
        g_free(user);
}

static void turn_unqueue(Peer *peer)
{
        TurnUser *user = peer->is_queued ? turn_user_find(peer->credentials.uid) : NULL;

        if (!user)
                return;
        g_queue_remove(&user->peers, peer);
        peer->is_queued = false;
        if (!user->peers.length)
                turn_remove_user(user);
}

/* The next user's next peer. */
static Peer *turn_next(void)
{
        TurnUser *user = g_queue_pop_head(&turns.users);
        Peer *peer = g_queue_pop_head(&user->peers);

        if (user->peers.length)
                g_queue_push_tail(&turns.users, user);
        else
                g_free(user);
        peer->is_queued = false;
        return peer;
}

/* True while a peer that gives way has to wait. Meanwhile the main loop runs without a timer, which
 * would sleep for longer than a client needs for its next question. */
static bool turn_is_others(void)
{
        gint64 now = g_get_monotonic_time();

        return now < turns.way && now - turns.latest < WAY_PATIENCE_US;
}

static void turn_serve(Peer *peer, GIOCondition events)
{
        gint64 begin = g_get_monotonic_time(), end;
        bool gives_way = peer->role->gives_way;

        peer_serve(peer, events);
        end = g_get_monotonic_time();
        turns.used += end - begin;
        if (gives_way)
                turns.way = end + (end - begin) * WAY_SHARE;
        /* Nobody else was served meanwhile. */
        if (!gives_way || begin - turns.latest < WAY_PATIENCE_US)
                turns.latest = end;
}

/* The present condition of a socket; the source's can be from an earlier iteration. */
static GIOCondition socket_condition(const Peer *peer)
{
        GPollFD fd = {.fd = peer->fd, .events = (gushort)peer->source->condition};

        return g_poll(&fd, 1, 0) > 0 ? (GIOCondition)fd.revents : 0;
}

static gboolean turn_dispatch(gpointer data)
{
        GSource *source = g_main_current_source();

        while (turns.users.length && turn_has_time(source)) {
                Peer *peer = turn_next();

                turn_serve(peer, socket_condition(peer));
        }
        if (turns.users.length)
                return G_SOURCE_CONTINUE;
        turns.source = 0;
        return G_SOURCE_REMOVE;
}

static gboolean peer_dispatch(GSource *source, GSourceFunc callback, gpointer user_data)
{
        PeerSource *self = (PeerSource *)source;

        /* Usually nobody waits, and the peer is served at once. */
        if (self->peer->is_queued || (self->peer->role->gives_way && turn_is_others()))
                return G_SOURCE_CONTINUE;
        if (turns.users.length || !turn_has_time(source))
                turn_queue(self->peer);
        else
                turn_serve(self->peer, g_source_query_unix_fd(source, self->tag));
        return G_SOURCE_CONTINUE;
}

static GSourceFuncs PEER_SOURCE_FUNCS = {.dispatch = peer_dispatch};

Peer *peer_new(int fd, const PeerRole *role, Conversation *conversation, void *data)
{
        Peer *peer = g_new0(Peer, 1);
        socklen_t n = sizeof(peer->credentials);

        peer->fd = fd;
        peer->credentials.uid = (uid_t)-1;
        getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer->credentials, &n);
        peer->role = role;
        peer->conversation = conversation;
        peer->data = data;
        peer->source = (PeerSource *)g_source_new(&PEER_SOURCE_FUNCS, sizeof(PeerSource));
        peer->source->peer = peer;
        peer->source->condition = 0;
        peer->source->ready_time = -1;
        peer->source->tag = g_source_add_unix_fd(&peer->source->source, fd, 0);
        /* The source never recurses, but the protection from that costs two system calls per
         * dispatch. */
        g_source_set_can_recurse(&peer->source->source, TRUE);
        g_source_attach(&peer->source->source, NULL);
        peer_update(peer);
        return peer;
}

void peer_free(Peer *peer)
{
        if (!peer)
                return;
        turn_unqueue(peer);
        g_source_destroy(&peer->source->source);
        g_source_unref(&peer->source->source);
        close(peer->fd);
        g_free(peer);
}

/* Sets or clears the deadline of something that the peer owes, from when it begins to owe it. */
static void peer_limit(const Peer *peer, int64_t *deadline, bool is_owing, int64_t now)
{
        if (!is_owing)
                *deadline = 0;
        else if (peer->role->timeout_ms && !*deadline)
                *deadline = now + peer->role->timeout_ms;
}

/*
 * True if the source wakes early enough for a deadline at READY_TIME. A source that wakes too early
 * is left alone, because changing the deadline with each message would cost two system calls each
 * time.
 */
static bool peer_source_wakes_by(const PeerSource *source, gint64 ready_time, int64_t now)
{
        if (source->ready_time < 0)
                return ready_time < 0;
        return source->ready_time > now * 1000 &&
               (ready_time < 0 || source->ready_time <= ready_time);
}

static void peer_source_watch(PeerSource *source, GIOCondition condition, int64_t deadline,
                              int64_t now)
{
        gint64 ready_time = deadline == INT64_MAX ? -1 : deadline * 1000;

        if (condition != source->condition)
                g_source_modify_unix_fd(&source->source, source->tag, condition);
        source->condition = condition;
        if (peer_source_wakes_by(source, ready_time, now))
                return;
        g_source_set_ready_time(&source->source, ready_time);
        source->ready_time = ready_time;
}

/* Sets the events that the main loop watches, and ends a peer that has nothing left to do. */
static void peer_update(Peer *peer)
{
        const Conversation *conversation = peer->conversation;
        const ConversationType *type = conversation->type;
        bool is_ending = peer->is_draining || type->is_over(conversation);
        bool wants_input = !is_ending && type->wants_input(conversation);
        bool is_partial = wants_input && type->is_partial && type->is_partial(conversation);
        int64_t now = now_ms(), deadline = INT64_MAX;
        const int64_t *deadlines[] = {&peer->again, &peer->reading, &peer->writing};
        size_t n_output, i;

        peer_output(peer, &n_output);
        if (is_ending && !n_output && !peer->again) {
                peer_end(peer);
                return;
        }
        peer_limit(peer, &peer->reading, is_partial, now);
        peer_limit(peer, &peer->writing, n_output > 0, now);
        for (i = 0; i < G_N_ELEMENTS(deadlines); i++)
                if (*deadlines[i])
                        deadline = MIN(deadline, *deadlines[i]);
        peer_source_watch(peer->source,
                          (wants_input ? G_IO_IN : 0) | (n_output ? G_IO_OUT : 0) | G_IO_HUP,
                          deadline, now);
}

static int peer_run_conversation(Peer *peer)
{
        Conversation *conversation = peer->conversation;
        int wait_ms =
                conversation->type->run ? conversation->type->run(conversation, now_ms()) : -1;

        if (peer->role->moved)
                peer->role->moved(peer->data);
        return wait_ms;
}

void peer_run(Peer *peer)
{
        gint64 end = g_get_monotonic_time() + TURN_US;
        size_t n_before, n_ready, n_after;
        int wait_ms;

        do { /* output that was sent makes room for further answers */
                peer_output(peer, &n_before);
                wait_ms = peer_run_conversation(peer);
                peer_output(peer, &n_ready);
                /* A message was complete, and was answered: the next one has its own timeout. */
                if (n_ready > n_before)
                        peer->reading = 0;
                if (!peer_flush(peer)) {
                        peer_end(peer);
                        return;
                }
                peer_output(peer, &n_after);
                if (n_ready && !n_after && g_get_monotonic_time() >= end)
                        wait_ms = 0;
        } while (n_ready && !n_after && wait_ms != 0); /* 0: it is others' turn */
        peer->again = wait_ms >= 0 ? now_ms() + wait_ms + 1 : 0;
        peer_update(peer);
}

void peer_wake(Peer *peer)
{
        turn_queue(peer);
}

void peer_drain(Peer *peer)
{
        peer->is_draining = true;
        peer_run(peer);
}

/* The messages about one user. */
typedef struct LogLimit {
        gint64 begin; /* us: begin of the interval */
        unsigned n, n_left_out;
} LogLimit;

/* False: there were too many messages. RET_LEFT_OUT: how many were left out before this one. */
static bool log_limit_allows(uid_t uid, unsigned *ret_left_out)
{
        static GHashTable *limits; /* uid -> owned LogLimit */
        gint64 now = g_get_monotonic_time();
        LogLimit *limit;

        *ret_left_out = 0;
        if (uid == 0)
                return true;
        if (!limits)
                limits = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        limit = g_hash_table_lookup(limits, GUINT_TO_POINTER(uid));
        if (!limit) {
                limit = g_new0(LogLimit, 1);
                g_hash_table_insert(limits, GUINT_TO_POINTER(uid), limit);
        }
        if (!limit->begin || now - limit->begin >= LOG_INTERVAL_US) {
                *ret_left_out = limit->n_left_out;
                *limit = (LogLimit){.begin = now};
        }
        if (limit->n < MAX_MESSAGES) {
                limit->n++;
                return true;
        }
        limit->n_left_out++;
        return false;
}

void peer_log(const Peer *peer, GLogLevelFlags level, const char *format, ...)
{
        g_autofree char *text = NULL, *pid = NULL, *uid = NULL, *left_out = NULL;
        unsigned n_left_out;
        va_list arguments;

        if (!log_limit_allows(peer->credentials.uid, &n_left_out))
                return;
        va_start(arguments, format);
        text = g_strdup_vprintf(format, arguments);
        va_end(arguments);
        pid = g_strdup_printf("%d", (int)peer->credentials.pid);
        uid = g_strdup_printf("%u", (unsigned)peer->credentials.uid);
        if (n_left_out)
                left_out =
                        g_strdup_printf(" (%u messages about this user were left out)", n_left_out);
        g_log_structured(G_LOG_DOMAIN, level, "CLRSYM_PID", pid, "CLRSYM_UID", uid, "CLRSYM_SOCKET",
                         peer->role->name, "MESSAGE", "%s pid=%s uid=%s%s", text, pid, uid,
                         left_out ? left_out : "");
}

bool peer_credentials(int fd, gid_t group, PeerCredentials *ret_credentials)
{
        struct ucred credentials;
        socklen_t n = sizeof(credentials), n_groups = 0;
        g_autofree gid_t *groups = NULL;
        size_t i;

        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &credentials, &n) < 0)
                return false;
        *ret_credentials = (PeerCredentials){credentials.pid, credentials.uid,
                                             group != PEER_NO_GROUP && credentials.gid == group};
        if (group == PEER_NO_GROUP || ret_credentials->is_in_group)
                return true;
        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &n_groups) == 0 || errno != ERANGE)
                return true;
        groups = g_malloc(n_groups);
        if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &n_groups) < 0)
                return true;
        for (i = 0; i < n_groups / sizeof(*groups); i++)
                ret_credentials->is_in_group |= groups[i] == group;
        return true;
}

int peer_open_process(int fd, pid_t pid)
{
        int process = -1;
        socklen_t n = sizeof(process);

        if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &n) == 0)
                return process;
        return errno == ENOPROTOOPT && pid > 0 ? pidfd_open(pid, 0) : -1;
}
