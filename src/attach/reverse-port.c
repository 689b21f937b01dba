/* SPDX-License-Identifier: MIT */
#include "attach/reverse-port.h"

#include "attach/error.h"
#include "attach/guest-port.h"
#include "attach/ipc.h"
#include "util/listener.h"
#include "util/peer.h"
#include "util/proc-stat.h"

#include <string.h>

/* Guesses; untuned. Each runtime has one connection. A user's further ones are resumed and hung up
 * on. */
#define MAX_LINES          2048
#define MAX_LINES_PER_USER 512
#define MAX_GUESTS         256

#define ANNOUNCE_MS 10000 /* to send the announcement */

/* A connection of a runtime. */
typedef struct ReverseLine {
        Conversation conversation;
        ReversePort *port;
        Peer *peer; /* owned */
        PeerCredentials who;
        uint64_t start_ticks;
        uint8_t input[IPC_ANNOUNCEMENT_SIZE];
        size_t n_input;
        GByteArray *output;  /* owned: what is left to send */
        int64_t deadline_ms; /* of its patience, in ms of the steady clock; 0: not set yet */
        bool is_settled;     /* it is or was resumed */
        bool is_over;
} ReverseLine;

struct ReversePort {
        Listener *listener; /* owned */
        char *path;         /* owned */
        mode_t mode;
        GPtrArray *guests; /* owned GuestPorts */
        GPtrArray *lines;  /* owned ReverseLines */
        /* What was resumed and may still run. Keys are owned: "COOKIE"; values ReverseRuntimes,
         * owned. */
        GHashTable *resumed;
        ReversePortCalls calls;
};

static char *line_cookie(const ReverseLine *line)
{
        return g_base64_encode(line->input + IPC_ANNOUNCEMENT_COOKIE_AT, IPC_COOKIE_SIZE);
}

static bool runtime_is_running(const ReverseRuntime *runtime)
{
        ProcStat stat;

        return proc_stat_read(runtime->pid, &stat) && stat.start_ticks == runtime->start_ticks;
}

static gboolean runtime_is_over(gpointer key, gpointer value, gpointer unused)
{
        return !runtime_is_running(value);
}

static ReverseRuntime line_runtime(const ReverseLine *line)
{
        return (ReverseRuntime){line->who.pid, line->start_ticks, line->who.uid};
}

static bool line_was_resumed(const ReverseLine *line)
{
        g_autofree char *cookie = line_cookie(line);
        const ReverseRuntime *runtime = g_hash_table_lookup(line->port->resumed, cookie);

        return runtime && runtime->pid == line->who.pid &&
               runtime->start_ticks == line->start_ticks;
}

static void line_resume(ReverseLine *line)
{
        const ReverseRuntime runtime = line_runtime(line);
        g_autoptr(GByteArray) command = ipc_resume_new();

        line->is_settled = true;
        g_byte_array_append(line->output, command->data, command->len);
        g_hash_table_foreach_remove(line->port->resumed, runtime_is_over, NULL);
        g_hash_table_replace(line->port->resumed, line_cookie(line),
                             g_memdup2(&runtime, sizeof(runtime)));
}

static bool line_is_announced(const ReverseLine *line)
{
        return line->n_input == IPC_ANNOUNCEMENT_SIZE;
}

static unsigned line_count_of_user(const ReverseLine *line)
{
        const GPtrArray *lines = line->port->lines;
        unsigned n = 0;
        guint i;

        for (i = 0; i < lines->len; i++)
                n += ((const ReverseLine *)lines->pdata[i])->who.uid == line->who.uid;
        return n;
}

static void line_take_announcement(ReverseLine *line)
{
        const ReversePortCalls *calls = &line->port->calls;
        const ReverseRuntime runtime = line_runtime(line);

        if (!ipc_is_announcement(line->input)) {
                line->is_over = true;
        } else if (line->who.pid <= 0 || !runtime_is_running(&runtime) ||
                   line_count_of_user(line) > MAX_LINES_PER_USER) {
                line_resume(line);
                line->is_over = true;
        } else if (line_was_resumed(line)) {
                line->is_settled = true;
        } else {
                calls->came(calls->data, &runtime);
        }
}

/* After the announcement come replies to commands, which do not matter. */
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
        g_warning("process %d is let go on without a session", (int)line->who.pid);
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

        peer_free(line->peer);
        g_byte_array_unref(line->output);
        g_free(line);
}

static void reverse_port_update_accepting(const ReversePort *port)
{
        const bool accepting = port->lines->len < MAX_LINES;
        guint i;

        listener_set_accepting(port->listener, accepting);
        for (i = 0; i < port->guests->len; i++)
                listener_set_accepting(guest_port_listener(port->guests->pdata[i]), accepting);
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

static void on_line_accept(void *data, int fd)
{
        ReversePort *port = data;
        ReverseLine *line = g_new0(ReverseLine, 1);
        ProcStat stat;

        line->conversation.type = &LINE_CONVERSATION;
        line->port = port;
        line->output = g_byte_array_new();
        if (peer_credentials(fd, PEER_NO_GROUP, &line->who) && proc_stat_read(line->who.pid, &stat))
                line->start_ticks = stat.start_ticks;
        line->peer = peer_new(fd, &LINE_ROLE, &line->conversation, line);
        g_ptr_array_add(port->lines, line);
        reverse_port_update_accepting(port);
        port->calls.changed(port->calls.data);
}

ReversePort *reverse_port_new(const char *path, mode_t mode, int fd, const ReversePortCalls *calls,
                              GError **error)
{
        ReversePort *port = g_new0(ReversePort, 1);

        port->calls = *calls;
        port->path = g_strdup(path);
        port->mode = mode;
        port->guests = g_ptr_array_new_with_free_func((GDestroyNotify)guest_port_free);
        port->lines = g_ptr_array_new_with_free_func(line_free);
        port->resumed = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
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
        g_ptr_array_unref(port->guests);
        g_free(port->path);
        g_ptr_array_unref(port->lines);
        g_hash_table_unref(port->resumed);
        g_free(port);
}

bool reverse_port_listen_in(ReversePort *port, pid_t pid, GError **error)
{
        GuestPort *guest;

        if (port->guests->len >= MAX_GUESTS) {
                g_set_error(error, ATTACH_ERROR, ATTACH_ERROR_FAILED,
                            "too many processes have root directories of their own");
                return false;
        }
        guest = guest_port_new(pid, port->path, port->mode, on_line_accept, port, error);
        if (guest)
                g_ptr_array_add(port->guests, guest);
        return guest != NULL;
}

bool reverse_port_resume(ReversePort *port, pid_t pid, uint64_t start_ticks)
{
        bool is_resumed = false;
        guint i;

        for (i = 0; i < port->lines->len; i++) {
                ReverseLine *line = port->lines->pdata[i];

                if (line->who.pid != pid || line->start_ticks != start_ticks ||
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
        guint i;

        for (i = 0; i < port->guests->len; i++)
                if (listener_is_called(guest_port_listener(port->guests->pdata[i])))
                        return true;
        return listener_is_called(port->listener);
}
