/* SPDX-License-Identifier: MIT */
#include "uplink.h"

#include "util/fd.h"
#include "util/unix-socket.h"

#include <poll.h>
#include <sys/socket.h>

enum {
        READ_SIZE = 4096,
};

#define FAIL(uplink, ...)                                                                          \
        (BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((uplink)->self, __VA_ARGS__), false)

static bool uplink_connect(Uplink *uplink)
{
        const char *path = uplink->path;

        uplink->fd = unix_connect(path, 0, UNIX_WAIT_FOREVER);
        switch (-uplink->fd) {
        case ENOENT:
        case ECONNREFUSED:
        case ENOTDIR:
        case ENOTSOCK:
                return FAIL(uplink, "no daemon at %s: start clrsymd, or give -p 'socket=\"PATH\"'",
                            path);
        case EACCES:
        case EPERM:
                return FAIL(uplink,
                            "may not connect to the daemon at %s: run as a member of the group of "
                            "that socket, or give -p 'socket=\"PATH\"'",
                            path);
        default:
                return uplink->fd >= 0 || FAIL(uplink, "cannot connect to the daemon at %s: %s",
                                               path, unix_socket_reason(uplink->fd));
        }
}

Uplink *uplink_new(bt_self_component *self, const char *path)
{
        Uplink *uplink = g_new0(Uplink, 1);

        uplink->self = self;
        uplink->path = g_strdup(path);
        uplink->client = ingest_client_new("sink.clrsym.feed " CLRSYM_VERSION, false);
        uplink->out = g_byte_array_new();
        if (!uplink_connect(uplink)) {
                uplink_free(uplink);
                return NULL;
        }
        ingest_client_connect(uplink->client, uplink->out);
        return uplink;
}

void uplink_free(Uplink *uplink)
{
        if (!uplink)
                return;
        fd_clear(&uplink->fd);
        ingest_client_free(uplink->client);
        g_byte_array_unref(uplink->out);
        g_free(uplink->path);
        g_free(uplink);
}

static bool uplink_fail_client(Uplink *uplink)
{
        switch (ingest_client_failure(uplink->client)) {
        case INGEST_CLIENT_OTHER_VERSION:
                return FAIL(uplink,
                            "the daemon at %s is of another version: install plugin and clrsymd "
                            "from one version, and restart clrsymd",
                            uplink->path);
        case INGEST_CLIENT_REFUSED:
                return FAIL(uplink, "the daemon at %s hung up: %s", uplink->path,
                            ingest_client_reason(uplink->client));
        default:
                return FAIL(uplink, "what answers at %s is not clrsymd: check parameter `socket`",
                            uplink->path);
        }
}

static bool uplink_fail_gone(Uplink *uplink)
{
        return FAIL(uplink,
                    "the daemon at %s has gone: what it has acknowledged is safe; start clrsymd "
                    "and feed the trace again",
                    uplink->path);
}

static bool uplink_handle_events(Uplink *uplink)
{
        IngestClientEvent event;

        do {
                event = ingest_client_next(uplink->client, NULL);
                if (event == INGEST_CLIENT_BROKEN)
                        return uplink_fail_client(uplink);
        } while (event != INGEST_CLIENT_NOTHING);
        return true;
}

static bool uplink_receive(Uplink *uplink)
{
        uint8_t bytes[READ_SIZE];

        for (;;) {
                ssize_t n = recv(uplink->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return true;
                if (n <= 0)
                        return uplink_fail_gone(uplink);
                ingest_client_feed(uplink->client, bytes, (size_t)n);
                if (!uplink_handle_events(uplink))
                        return false;
                if ((size_t)n < sizeof(bytes))
                        return true;
        }
}

/* False if the daemon no longer reads. */
static bool uplink_transmit(Uplink *uplink)
{
        while (uplink->n_sent < uplink->out->len) {
                ssize_t n = send(uplink->fd, uplink->out->data + uplink->n_sent,
                                 uplink->out->len - uplink->n_sent, MSG_DONTWAIT | MSG_NOSIGNAL);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return true;
                if (n < 0)
                        return false;
                uplink->n_sent += (size_t)n;
        }
        g_byte_array_set_size(uplink->out, 0);
        uplink->n_sent = 0;
        return true;
}

bool uplink_exchange(Uplink *uplink, int timeout_ms)
{
        if (!uplink_transmit(uplink)) {
                /* What it sent last may give the reason. */
                return uplink_receive(uplink) ? uplink_fail_gone(uplink) : false;
        }
        if (timeout_ms > 0) {
                struct pollfd poll_fd = {
                        .fd = uplink->fd,
                        .events = POLLIN | (uplink->out->len ? POLLOUT : 0),
                };

                if (poll(&poll_fd, 1, timeout_ms) <= 0)
                        return true;
                if (poll_fd.revents & POLLOUT)
                        (void)uplink_transmit(uplink);
        }
        return uplink_receive(uplink);
}
