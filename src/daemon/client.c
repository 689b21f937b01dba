/* SPDX-License-Identifier: MIT */
#include "daemon/client.h"

#include "daemon/proc-ns.h"
#include "daemon/proc.h"

#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ms that a client has for the rest of a message, or to take what it asked for. */
#define TIMEOUT_MS 5000

/* What a pid stands for in the asker's pid namespace, as long as that process lives. */
typedef struct Known {
        uint64_t pid_ns;
        int32_t pid; /* 0: nothing */
        int pidfd;
        ProcessKey key;
} Known;

/* Of all clients together: each takes a descriptor, and nobody may take those of others. */
enum { N_KNOWN = 256 };

static Known known_pids[N_KNOWN];

struct Client {
        QuerySession *session;
        uid_t uid;
        pid_t pid;         /* in our own pid namespace */
        uint64_t pid_ns;   /* its own */
        int pidfd;         /* -1: it is gone, or outside of that */
        bool is_neighbour; /* its pid namespace is our own */
        size_t n_sent;     /* of the output; it is still in it */
        bool is_watching;
        void (*watching)(void *data);
        void *data;
};

static int open_pidfd(pid_t pid)
{
        return pid > 0 ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
}

static bool lives(int pidfd)
{
        return pidfd >= 0 &&
               (syscall(SYS_pidfd_send_signal, pidfd, 0, NULL, 0) == 0 || errno == EPERM);
}

static void forget(Known *known)
{
        if (known->pid)
                close(known->pidfd);
        *known = (Known){0};
}

/* The running process that the asker calls PID. To look it up in /proc takes longer than all else.
 */
static bool find(void *data, int32_t pid, ProcessKey *ret_key)
{
        Client *client = data;
        Known *known;
        ProcKey key, again;
        int pidfd;

        if (pid <= 0)
                return false;
        known = &known_pids[((uint64_t)pid ^ client->pid_ns) % N_KNOWN];
        /* Whoever connected may be gone, and its pid another's by now. */
        if (!lives(client->pidfd))
                return false;
        if (known->pid == pid && known->pid_ns == client->pid_ns && lives(known->pidfd)) {
                *ret_key = known->key;
                return true;
        }
        forget(known);
        /* Of what has ended, the kernel says so at once. */
        if (client->is_neighbour) {
                pidfd = open_pidfd(pid);
                if (pidfd < 0)
                        return false;
                close(pidfd);
        }
        if (!proc_find_key(client->pid, pid, &key))
                return false;
        *ret_key = key.key;
        pidfd = open_pidfd(key.host_pid);
        /* It is kept if the pid still stood for it when it could not be given to another any more.
         */
        if (pidfd >= 0 && proc_find_key(client->pid, pid, &again) &&
            again.host_pid == key.host_pid && process_key_equal(&again.key, &key.key))
                *known = (Known){client->pid_ns, pid, pidfd, key.key};
        else if (pidfd >= 0)
                close(pidfd);
        return true;
}

Client *client_new(int fd, const QueryContext *template, const char *group,
                   void (*watching)(void *data), void *data)
{
        QueryContext context = *template;
        PeerCredentials credentials;
        ProcInfo info;
        Client *client;

        if (!peer_credentials(fd, group, &credentials))
                return NULL;
        client = g_new0(Client, 1);
        client->uid = credentials.uid;
        client->pid = credentials.pid;
        client->pidfd = open_pidfd(credentials.pid);
        client->watching = watching;
        client->data = data;
        context.viewer = (Viewer){
                .uid = credentials.uid,
                /* Who could look into the daemon's memory need not be kept from its answers. */
                .sees_all = credentials.uid == 0 || credentials.uid == geteuid() ||
                            credentials.is_in_group,
        };
        if (client->pidfd >= 0 && proc_read(credentials.pid, &info) && lives(client->pidfd)) {
                client->pid_ns = info.levels[info.n_levels - 1].pid_ns;
                context.viewer.pid_ns = client->pid_ns;
                client->is_neighbour = info.n_levels == 1;
                context.viewer.find = find;
                context.viewer.data = client;
        }
        client->session = query_session_new(&context);
        return client;
}

uid_t client_uid(const Client *client)
{
        return client->uid;
}

QuerySession *client_session(const Client *client)
{
        return client->session;
}

static void client_feed(void *data, const uint8_t *bytes, size_t n)
{
        query_session_feed(((Client *)data)->session, bytes, n);
}

static int client_run(void *data, int64_t now_ms)
{
        Client *client = data;
        int wait_ms = query_session_run(client->session, now_ms);

        if (query_session_is_watching(client->session) && !client->is_watching) {
                client->is_watching = true;
                client->watching(client->data);
        }
        return wait_ms;
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
        const Client *client = data;
        const GString *output = query_session_output(client->session);

        *ret_n = output->len - client->n_sent;
        return (const uint8_t *)output->str + client->n_sent;
}

static void client_sent(void *data, size_t n)
{
        Client *client = data;
        GString *output = query_session_output(client->session);

        client->n_sent += n;
        /* To move what is left at each time would take longer than all else with a long reply. */
        if (client->n_sent >= output->len / 2) {
                g_string_erase(output, 0, (gssize)client->n_sent);
                client->n_sent = 0;
        }
}

static void client_free(void *data)
{
        Client *client = data;

        query_session_free(client->session);
        if (client->pidfd >= 0)
                close(client->pidfd);
        g_free(client);
}

const PeerRole CLIENT_ROLE = {
        .name = "query",
        .feed = client_feed,
        .run = client_run,
        .wants_input = client_wants_input,
        .is_over = client_is_over,
        .is_partial = client_is_partial,
        .output = client_output,
        .sent = client_sent,
        .free = client_free,
        .timeout_ms = TIMEOUT_MS,
};
