/* SPDX-License-Identifier: MIT */
#include "attach/reverse-port.h"

#include "attach/ipc.h"
#include "util/fd.h"
#include "util/listener.h"
#include "util/peer.h"
#include "util/proc.h"

#include <string.h>

/*
 * Guesses; untuned. Each runtime has one connection, and announces itself at once. Beyond a user's
 * limit, runtimes are resumed and disconnected; of a user's silent connections the oldest is
 * dropped.
 */
#define MAX_LINES           2048
#define MAX_LINES_PER_USER  512
#define MAX_SILENT_PER_USER 128

/* Number of resumed processes at which ended ones are removed; afterwards twice the number of those
 * that run. */
#define MIN_RESUMED 256

#define ANNOUNCE_MS 10000 /* to send the announcement */

/* A user's connections. */
typedef struct ReverseUser {
        unsigned n_lines;
        GQueue silent; /* of ReverseLine, linked by silent_link: the oldest first */
} ReverseUser;

/* A connection of a runtime. */
typedef struct ReverseLine {
        Conversation conversation;
        ReversePort *port;
        Peer *peer;        /* owned */
        uid_t caller;      /* the user that the kernel reports for the connection */
        ReverseUser *user; /* borrowed: that user */
        GList silent_link; /* in user->silent; data NULL: the connection has announced itself */
        ReverseRuntime runtime; /* pid 0: the process is not known, or has ended */
        uint8_t input[IPC_ANNOUNCEMENT_SIZE];
        size_t n_input;
        GByteArray *output;  /* owned: unsent bytes */
        int64_t deadline_ms; /* its deadline in ms of the steady clock; 0: not set yet */
        bool is_settled;     /* being resumed, or resumed */
        bool is_over;
} ReverseLine;

struct ReversePort {
        Listener *listener; /* owned */
        GPtrArray *lines;   /* owned ReverseLines */
        GHashTable *users;  /* uid -> owned ReverseUser, while the user has lines */
        /* Resumed runtimes that may still run: pid -> owned ReverseResumed. */
        GHashTable *resumed;
        guint max_resumed; /* size of RESUMED at which ended processes are removed */
        ReversePortCalls calls;
};

typedef struct ReverseResumed {
        ReverseRuntime runtime;
        uint8_t cookie[IPC_COOKIE_SIZE];
} ReverseResumed;

static const uint8_t *line_cookie(const ReverseLine *line)
{
        return line->input + IPC_ANNOUNCEMENT_COOKIE_AT;
}

static bool runtime_is_running(const ReverseRuntime *runtime)
{
        uint64_t start_ticks;
        uint32_t uid;

        return proc_identify(runtime->pid, &start_ticks, &uid) &&
               start_ticks == runtime->start_ticks;
}

static gboolean resumed_is_over(gpointer key, gpointer value, gpointer unused)
{
        const ReverseResumed *resumed = value;

        return !runtime_is_running(&resumed->runtime);
}

static bool line_was_resumed(const ReverseLine *line)
{
        const ReverseResumed *resumed =
                g_hash_table_lookup(line->port->resumed, GINT_TO_POINTER(line->runtime.pid));

        return resumed && resumed->runtime.start_ticks == line->runtime.start_ticks &&
               memcmp(resumed->cookie, line_cookie(line), IPC_COOKIE_SIZE) == 0;
}

/* Keeps the latest cookie: a process that has run another program since has another one. */
static void line_note_resumed(const ReverseLine *line)
{
        ReversePort *port = line->port;
        ReverseResumed *resumed;

        if (g_hash_table_size(port->resumed) >= port->max_resumed) {
                g_hash_table_foreach_remove(port->resumed, resumed_is_over, NULL);
                port->max_resumed = MAX(MIN_RESUMED, 2 * g_hash_table_size(port->resumed));
        }
        resumed = g_new0(ReverseResumed, 1);
        resumed->runtime = line->runtime;
        memcpy(resumed->cookie, line_cookie(line), IPC_COOKIE_SIZE);
        g_hash_table_replace(port->resumed, GINT_TO_POINTER(line->runtime.pid), resumed);
}

static void line_resume(ReverseLine *line)
{
        g_autoptr(GByteArray) command = ipc_resume_new();

        line->is_settled = true;
        g_byte_array_append(line->output, command->data, command->len);
        if (line->runtime.pid)
                line_note_resumed(line);
}

static bool line_is_announced(const ReverseLine *line)
{
        return line->n_input == IPC_ANNOUNCEMENT_SIZE;
}

static void line_note_speaker(ReverseLine *line)
{
        if (!line->silent_link.data)
                return;
        g_queue_unlink(&line->user->silent, &line->silent_link);
        line->silent_link.data = NULL;
}

static void line_take_announcement(ReverseLine *line)
{
        const ReversePortCalls *calls = &line->port->calls;

        line_note_speaker(line);
        if (!ipc_is_announcement(line->input)) {
                line->is_over = true;
        } else if (!line->runtime.pid || !runtime_is_running(&line->runtime)) {
                line_resume(line);
                line->is_over = true;
        } else if (line->user->n_lines > MAX_LINES_PER_USER) {
                peer_log(line->peer, G_LOG_LEVEL_WARNING,
                         "this runtime starts without a session, because its user has %u "
                         "connections to the port already: end some of that user's programs",
                         MAX_LINES_PER_USER);
                line_resume(line);
                line->is_over = true;
        } else if (line_was_resumed(line)) {
                line->is_settled = true;
        } else {
                calls->came(calls->data, &line->runtime);
        }
}

/* Ignores replies to commands, which follow the announcement. */
static void line_feed(Conversation *conversation, const uint8_t *bytes, size_t n)
{
        ReverseLine *line = (ReverseLine *)conversation;
        const size_t n_taken = MIN(n, IPC_ANNOUNCEMENT_SIZE - line->n_input);

        if (!n_taken || line->is_over)
                return;
        memcpy(line->input + line->n_input, bytes, n_taken);
        line->n_input += n_taken;
        if (line_is_announced(line))
                line_take_announcement(line);
}

static int line_run(Conversation *conversation, int64_t now_ms)
{
        ReverseLine *line = (ReverseLine *)conversation;

        if (!line_is_announced(line) || line->is_settled || line->is_over)
                return -1;
        if (!line->deadline_ms)
                line->deadline_ms = now_ms + REVERSE_PORT_PATIENCE;
        if (now_ms < line->deadline_ms)
                return (int)(line->deadline_ms - now_ms);
        g_warning("process %d starts without a session", (int)line->runtime.pid);
        line_resume(line);
        return -1;
}

static bool line_wants_input(const Conversation *conversation)
{
        return !((const ReverseLine *)conversation)->is_over;
}

static bool line_is_over(const Conversation *conversation)
{
        return ((const ReverseLine *)conversation)->is_over;
}

static bool line_is_partial(const Conversation *conversation)
{
        return !line_is_announced((const ReverseLine *)conversation);
}

static const uint8_t *line_output(const Conversation *conversation, size_t *ret_n)
{
        const ReverseLine *line = (const ReverseLine *)conversation;

        *ret_n = line->output->len;
        return line->output->data;
}

static void line_sent(Conversation *conversation, size_t n)
{
        g_byte_array_remove_range(((ReverseLine *)conversation)->output, 0, (guint)n);
}

static const ConversationType LINE_CONVERSATION = {
        .feed = line_feed,
        .run = line_run,
        .wants_input = line_wants_input,
        .is_over = line_is_over,
        .is_partial = line_is_partial,
        .output = line_output,
        .sent = line_sent,
};

static void line_free(gpointer data)
{
        ReverseLine *line = data;

        line_note_speaker(line);
        if (--line->user->n_lines == 0)
                g_hash_table_remove(line->port->users, GUINT_TO_POINTER(line->caller));
        peer_free(line->peer);
        g_byte_array_unref(line->output);
        g_free(line);
}

static void reverse_port_update_accepting(const ReversePort *port)
{
        listener_set_accepting(port->listener, port->lines->len < MAX_LINES);
}

static void on_line_gone(Peer *peer, void *data)
{
        ReversePort *port = ((ReverseLine *)data)->port;

        g_ptr_array_remove_fast(port->lines, data);
        reverse_port_update_accepting(port);
        port->calls.changed(port->calls.data);
}

static const PeerRole LINE_ROLE = {
        .name = "port",
        .gone = on_line_gone,
        .timeout_ms = ANNOUNCE_MS,
};

/*
 * Identifies the process that has connected. It may have ended since, and its pid be reused. If the
 * kernel cannot report that, the users must be equal; a process without a single user counts as
 * root's.
 */
static void line_identify(ReverseLine *line, int fd, const PeerCredentials *who)
{
        FD_AUTO int process = peer_open_process(fd, who->pid);
        ReverseRuntime runtime = {.pid = who->pid};
        uint32_t uid;

        if (process < 0 || !proc_identify(who->pid, &runtime.start_ticks, &uid) ||
            (uid != who->uid && uid != 0) || proc_has_ended(process))
                return;
        runtime.uid = uid;
        line->runtime = runtime;
}

static ReverseUser *reverse_port_user(ReversePort *port, uid_t uid)
{
        ReverseUser *user = g_hash_table_lookup(port->users, GUINT_TO_POINTER(uid));

        if (!user) {
                user = g_new0(ReverseUser, 1);
                g_hash_table_insert(port->users, GUINT_TO_POINTER(uid), user);
        }
        return user;
}

/* The user with the most silent connections. */
static ReverseUser *reverse_port_most_silent(const ReversePort *port)
{
        ReverseUser *most = NULL;
        GHashTableIter iter;
        gpointer user;

        g_hash_table_iter_init(&iter, port->users);
        while (g_hash_table_iter_next(&iter, NULL, &user))
                if (!most || ((ReverseUser *)user)->silent.length > most->silent.length)
                        most = user;
        return most;
}

/* Makes room for one more connection of USER. */
static void reverse_port_make_room(const ReversePort *port, ReverseUser *user)
{
        ReverseLine *oldest;

        if (user->silent.length < MAX_SILENT_PER_USER) {
                if (port->lines->len + 1 < MAX_LINES)
                        return;
                user = reverse_port_most_silent(port);
        }
        oldest = g_queue_peek_head(&user->silent);
        if (!oldest)
                return;
        peer_log(oldest->peer, G_LOG_LEVEL_WARNING,
                 "a connection to the port is closed, because its user has %u connections that "
                 "announce no runtime: end the program that makes them",
                 user->silent.length);
        oldest->is_over = true;
        peer_run(oldest->peer);
}

static void on_line_accept(void *data, int fd)
{
        ReversePort *port = data;
        ReverseLine *line = g_new0(ReverseLine, 1);
        PeerCredentials who = {.uid = (uid_t)-1};

        line->conversation.type = &LINE_CONVERSATION;
        line->port = port;
        line->output = g_byte_array_new();
        if (peer_credentials(fd, PEER_NO_GROUP, &who))
                line_identify(line, fd, &who);
        line->caller = who.uid;
        line->user = reverse_port_user(port, who.uid);
        line->user->n_lines++;
        reverse_port_make_room(port, line->user);
        line->peer = peer_new(fd, &LINE_ROLE, &line->conversation, line);
        line->silent_link.data = line;
        g_queue_push_tail_link(&line->user->silent, &line->silent_link);
        g_ptr_array_add(port->lines, line);
        reverse_port_update_accepting(port);
        port->calls.changed(port->calls.data);
}

ReversePort *reverse_port_new(const char *path, mode_t mode, int fd, const ReversePortCalls *calls,
                              GError **error)
{
        ReversePort *port = g_new0(ReversePort, 1);

        port->calls = *calls;
        port->lines = g_ptr_array_new_with_free_func(line_free);
        port->users = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        port->resumed = g_hash_table_new_full(NULL, NULL, NULL, g_free);
        port->max_resumed = MIN_RESUMED;
        port->listener = listener_new(path, mode, NULL, fd, on_line_accept, port, error);
        if (port->listener)
                return port;
        reverse_port_free(port);
        return NULL;
}

void reverse_port_free(ReversePort *port)
{
        if (!port)
                return;
        listener_free(port->listener);
        g_ptr_array_unref(port->lines);
        g_hash_table_unref(port->users);
        g_hash_table_unref(port->resumed);
        g_free(port);
}

bool reverse_port_resume(ReversePort *port, pid_t pid, uint64_t start_ticks)
{
        bool is_resumed = false;
        guint i;

        for (i = 0; i < port->lines->len; i++) {
                ReverseLine *line = port->lines->pdata[i];

                if (line->runtime.pid != pid || line->runtime.start_ticks != start_ticks ||
                    !line_is_announced(line) || line->is_settled || line->is_over)
                        continue;
                line_resume(line);
                peer_wake(line->peer);
                is_resumed = true;
        }
        return is_resumed;
}

unsigned reverse_port_n_connected(const ReversePort *port)
{
        return port->lines->len;
}

bool reverse_port_is_called(const ReversePort *port)
{
        return listener_is_called(port->listener);
}
