/* SPDX-License-Identifier: MIT */
#include "wire/ingest-uplink.h"

#include "util/fd.h"
#include "util/unix-socket.h"

#include <errno.h>
#include <glib-unix.h>
#include <sys/socket.h>

#define READ_SIZE (64u << 10)
/* Sent bytes that still lie in the output. */
#define MAX_SENT (1u << 20)

struct IngestUplink {
        IngestClient *client; /* owned */
        int fd;               /* -1: not connected */
        GByteArray *out;      /* owned: to be sent */
        size_t n_sent;        /* its sent bytes */

        const IngestUplinkCalls *calls; /* borrowed; NULL: the host polls */
        void *data;
        guint in_source, out_source; /* 0: none */
};

IngestUplink *ingest_uplink_new(const char *program, bool keeps_batches)
{
        IngestUplink *uplink = g_new0(IngestUplink, 1);

        uplink->client = ingest_client_new(program, keeps_batches);
        uplink->fd = -1;
        uplink->out = g_byte_array_new();
        return uplink;
}

void ingest_uplink_free(IngestUplink *uplink)
{
        if (!uplink)
                return;
        ingest_uplink_disconnect(uplink);
        ingest_client_free(uplink->client);
        g_byte_array_unref(uplink->out);
        g_free(uplink);
}

IngestClient *ingest_uplink_client(const IngestUplink *uplink)
{
        return uplink->client;
}

int ingest_uplink_connect(IngestUplink *uplink, const char *path, int wait_ms)
{
        const int fd = unix_connect(path, SOCK_NONBLOCK, wait_ms);

        if (fd < 0)
                return fd;
        uplink->fd = fd;
        ingest_client_connect(uplink->client, uplink->out);
        return 0;
}

char *ingest_uplink_explain(const char *path, int error, const char *option)
{
        if (unix_socket_is_absent(error))
                return g_strdup_printf("no daemon at %s: start clrsymd, or give %s", path, option);
        if (error == -EACCES || error == -EPERM)
                return g_strdup_printf("may not connect to the daemon at %s: run as a member of "
                                       "the group of that socket, or give %s",
                                       path, option);
        return g_strdup_printf("cannot connect to the daemon at %s: %s", path,
                               unix_socket_reason(error));
}

void ingest_uplink_disconnect(IngestUplink *uplink)
{
        ingest_client_disconnect(uplink->client);
        g_clear_handle_id(&uplink->in_source, g_source_remove);
        g_clear_handle_id(&uplink->out_source, g_source_remove);
        uplink->calls = NULL;
        fd_clear(&uplink->fd);
        g_byte_array_set_size(uplink->out, 0);
        uplink->n_sent = 0;
}

bool ingest_uplink_is_connected(const IngestUplink *uplink)
{
        return uplink->fd >= 0;
}

/* Unsent bytes. */
static size_t uplink_n_queued(const IngestUplink *uplink)
{
        return uplink->out->len - uplink->n_sent;
}

static void uplink_send_now(IngestUplink *uplink)
{
        bool is_full = false;

        while (uplink_n_queued(uplink) && !is_full) {
                ssize_t n = send(uplink->fd, uplink->out->data + uplink->n_sent,
                                 uplink_n_queued(uplink), MSG_DONTWAIT | MSG_NOSIGNAL);

                if (n >= 0) {
                        uplink->n_sent += (size_t)n;
                } else if (errno == EAGAIN) {
                        is_full = true;
                } else if (errno != EINTR) {
                        /*
                         * Receiving then finds the end, even if the cause was a lack of room here
                         * (ENOBUFS).
                         */
                        shutdown(uplink->fd, SHUT_RDWR);
                        uplink->n_sent = uplink->out->len;
                }
        }
        if (!uplink_n_queued(uplink) || uplink->n_sent > MAX_SENT) {
                g_byte_array_remove_range(uplink->out, 0, (guint)uplink->n_sent);
                uplink->n_sent = 0;
        }
}

static gboolean uplink_on_output(gint fd, GIOCondition condition, gpointer data)
{
        IngestUplink *uplink = data;

        uplink->out_source = 0;
        ingest_uplink_send(uplink);
        return G_SOURCE_REMOVE;
}

void ingest_uplink_send(IngestUplink *uplink)
{
        if (uplink->fd < 0)
                return;
        uplink_send_now(uplink);
        if (uplink->calls && uplink_n_queued(uplink) && !uplink->out_source)
                uplink->out_source = g_unix_fd_add(uplink->fd, G_IO_OUT, uplink_on_output, uplink);
}

IngestUplinkStatus ingest_uplink_receive(IngestUplink *uplink)
{
        uint8_t bytes[READ_SIZE];
        ssize_t n;

        do
                n = recv(uplink->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
        while (n < 0 && errno == EINTR);
        if (n <= 0)
                return n < 0 && errno == EAGAIN ? INGEST_UPLINK_NOTHING : INGEST_UPLINK_GONE;
        ingest_client_feed(uplink->client, bytes, (size_t)n);
        return INGEST_UPLINK_RECEIVED;
}

static gboolean uplink_on_input(gint fd, GIOCondition condition, gpointer data)
{
        IngestUplink *uplink = data;

        /* The calls may free the uplink, and this source with it. */
        switch (ingest_uplink_receive(uplink)) {
        case INGEST_UPLINK_RECEIVED:
                uplink->calls->received(uplink->data);
                return G_SOURCE_CONTINUE;
        case INGEST_UPLINK_GONE:
                uplink->in_source = 0;
                uplink->calls->gone(uplink->data);
                return G_SOURCE_REMOVE;
        default:
                return G_SOURCE_CONTINUE;
        }
}

void ingest_uplink_watch(IngestUplink *uplink, const IngestUplinkCalls *calls, void *data)
{
        uplink->calls = calls;
        uplink->data = data;
        uplink->in_source = g_unix_fd_add(uplink->fd, G_IO_IN | G_IO_HUP, uplink_on_input, uplink);
}

struct pollfd ingest_uplink_poll(const IngestUplink *uplink)
{
        const short events = uplink_n_queued(uplink) ? POLLIN | POLLOUT : POLLIN;

        return (struct pollfd){.fd = uplink->fd, .events = events};
}

/* False: the client FAILED. */
static bool uplink_pass_events(IngestUplink *uplink)
{
        IngestClientEvent event;

        do
                event = ingest_client_next(uplink->client, NULL);
        while (event != INGEST_CLIENT_NOTHING && event != INGEST_CLIENT_BROKEN);
        return event == INGEST_CLIENT_NOTHING;
}

IngestUplinkStatus ingest_uplink_exchange(IngestUplink *uplink, int timeout_ms)
{
        IngestUplinkStatus status;

        ingest_uplink_send(uplink);
        if (timeout_ms) {
                struct pollfd fd = ingest_uplink_poll(uplink);

                if (poll(&fd, 1, timeout_ms) <= 0)
                        return INGEST_UPLINK_NOTHING;
                ingest_uplink_send(uplink);
        }
        while ((status = ingest_uplink_receive(uplink)) == INGEST_UPLINK_RECEIVED)
                if (!uplink_pass_events(uplink))
                        return INGEST_UPLINK_BROKEN;
        return status;
}
