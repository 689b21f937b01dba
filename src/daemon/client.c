/* SPDX-License-Identifier: MIT */
#include "daemon/client.h"

#include "daemon/proc-ns.h"
#include "daemon/proc.h"

#include <unistd.h>

/* ms that a client has for the rest of a message, or to take what it asked for. */
#define TIMEOUT_MS 5000

struct Client {
        QuerySession *session;
        uid_t uid;
        bool is_watching;
        void (*watching)(void *data);
        void *data;
};

/* The running process that the asker calls PID, where that takes /proc to know. */
static bool find(const Viewer *viewer, int32_t pid, ProcessKey *ret_key)
{
        ProcKey key;

        /* Whoever connected may be gone, and its pid another's by now. */
        if (proc_start_time(viewer->pid) != viewer->pid_start ||
            !proc_find_key(viewer->pid, pid, &key))
                return false;
        *ret_key = key.key;
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
        context.viewer = (Viewer){
                .uid = credentials.uid,
                /* Who could look into the daemon's memory need not be kept from its answers. */
                .sees_all = credentials.uid == 0 || credentials.uid == geteuid() ||
                            credentials.is_in_group,
        };
        if (proc_read(credentials.pid, &info)) {
                context.viewer.pid = credentials.pid;
                context.viewer.pid_start = info.start;
                context.viewer.pid_ns = info.levels[info.n_levels - 1].pid_ns;
                context.viewer.find = find;
        }
        client = g_new(Client, 1);
        *client = (Client){.session = query_session_new(&context),
                           .uid = credentials.uid,
                           .watching = watching,
                           .data = data};
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
        const GString *output = query_session_output(((Client *)data)->session);

        *ret_n = output->len;
        return (const uint8_t *)output->str;
}

static void client_sent(void *data, size_t n)
{
        g_string_erase(query_session_output(((Client *)data)->session), 0, (gssize)n);
}

static void client_free(void *data)
{
        Client *client = data;

        query_session_free(client->session);
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
