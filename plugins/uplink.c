/* SPDX-License-Identifier: MIT */
#include "uplink.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum {
        READ_SIZE = 4096,
};

typedef struct Watermark {
        bool is_known;
        uint64_t time;
} Watermark;

#define FAIL(uplink, ...)                                                                          \
        (BT_CURRENT_THREAD_ERROR_APPEND_CAUSE_FROM_COMPONENT((uplink)->self, __VA_ARGS__), false)

static bool uplink_connect(Uplink *uplink)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};
        const char *path = uplink->path;
        int error;

        if (strlen(path) >= sizeof(address.sun_path))
                return FAIL(uplink,
                            "Parameter `socket` is longer than the %zu bytes that a socket's path "
                            "can have: %s",
                            sizeof(address.sun_path) - 1, path);
        strcpy(address.sun_path, path);
        uplink->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (uplink->fd < 0)
                return FAIL(uplink, "Cannot make a socket: %s", g_strerror(errno));
        if (connect(uplink->fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
                return true;

        error = errno;
        if (error == ENOENT || error == ECONNREFUSED || error == ENOTDIR || error == ENOTSOCK)
                return FAIL(uplink, "no daemon at %s: start clrsymd, or give -p 'socket=\"PATH\"'",
                            path);
        if (error == EACCES || error == EPERM)
                return FAIL(uplink,
                            "may not connect to the daemon at %s: run as a member of the group of "
                            "that socket, or give -p 'socket=\"PATH\"'",
                            path);
        return FAIL(uplink, "cannot connect to the daemon at %s: %s", path, g_strerror(error));
}

Uplink *uplink_new(bt_self_component *self, const char *path)
{
        Uplink *uplink = g_new0(Uplink, 1);

        uplink->self = self;
        uplink->path = g_strdup(path);
        uplink->fd = -1;
        uplink->out = g_byte_array_new();
        uplink->in = g_byte_array_new();
        uplink->watermarks = g_array_new(FALSE, TRUE, sizeof(Watermark));
        if (!uplink_connect(uplink)) {
                uplink_free(uplink);
                return NULL;
        }
        ingest_put_hello(uplink->out, INGEST_VERSION, "sink.clrsym.feed " CLRSYM_VERSION);
        return uplink;
}

void uplink_free(Uplink *uplink)
{
        if (!uplink)
                return;
        if (uplink->fd >= 0)
                close(uplink->fd);
        g_byte_array_unref(uplink->out);
        g_byte_array_unref(uplink->in);
        g_array_unref(uplink->watermarks);
        g_free(uplink->path);
        g_free(uplink);
}

void uplink_open_stream(Uplink *uplink, uint32_t number, const IngestStream *identity)
{
        if (uplink->watermarks->len <= number)
                g_array_set_size(uplink->watermarks, number + 1);
        ingest_put_stream_open(uplink->out, number, identity);
}

bool uplink_watermark(const Uplink *uplink, uint32_t number, uint64_t *ret_time)
{
        const Watermark *watermark = &g_array_index(uplink->watermarks, Watermark, number);

        if (!watermark->is_known)
                return false;
        *ret_time = watermark->time;
        return true;
}

void uplink_commit(Uplink *uplink, const uint8_t *frames, size_t n)
{
        g_byte_array_append(uplink->out, frames, (guint)n);
        ingest_put_empty(uplink->out, INGEST_COMMIT);
        uplink->n_commits++;
}

static bool handle_ack(Uplink *uplink, const IngestFrame *frame)
{
        Watermark *watermark;
        uint32_t number;
        uint64_t time;

        if (ingest_get_stream_time(frame, &number, &time) < 0 || number >= uplink->watermarks->len)
                return FAIL(uplink, "the daemon at %s sent an acknowledgement that makes no sense",
                            uplink->path);
        /* Later ones are for those who keep what they sent until it is safe: nobody here. */
        watermark = &g_array_index(uplink->watermarks, Watermark, number);
        if (!watermark->is_known)
                *watermark = (Watermark){.is_known = true, .time = time};
        return true;
}

static bool handle_frame(Uplink *uplink, const IngestFrame *frame)
{
        g_autofree char *text = NULL;
        uint32_t version;

        switch ((int)frame->type) {
        case INGEST_HELLO:
                if (ingest_get_hello(frame, &version) < 0 || version != INGEST_VERSION)
                        return FAIL(uplink,
                                    "the daemon at %s is of another version: install plugin and "
                                    "clrsymd from one version, and restart clrsymd",
                                    uplink->path);
                uplink->is_greeted = true;
                return true;
        case INGEST_ACK:
                return handle_ack(uplink, frame);
        case INGEST_COMMITTED:
                if (uplink_n_in_flight(uplink) == 0)
                        return FAIL(uplink, "the daemon at %s acknowledged what was never sent",
                                    uplink->path);
                uplink->n_committed++;
                return true;
        case INGEST_HOLD:
                uplink->may_go = false;
                return true;
        case INGEST_GO:
                uplink->may_go = true;
                return true;
        case INGEST_ERROR:
                text = ingest_get_error(frame);
                return FAIL(uplink, "the daemon at %s hung up: %s", uplink->path,
                            text ? text : "it does not say why");
        default:
                return FAIL(uplink, "what answers at %s is no clrsymd: check parameter `socket`",
                            uplink->path);
        }
}

static bool handle_input(Uplink *uplink)
{
        size_t position = 0;

        for (;;) {
                IngestFrame frame;
                ssize_t n = ingest_frame_next(uplink->in->data + position,
                                              uplink->in->len - position, &frame);

                if (n < 0)
                        return FAIL(uplink,
                                    "what answers at %s is no clrsymd: check parameter `socket`",
                                    uplink->path);
                if (n == 0)
                        break;
                if (!handle_frame(uplink, &frame))
                        return false;
                position += (size_t)n;
        }
        if (position)
                g_byte_array_remove_range(uplink->in, 0, (guint)position);
        return true;
}

static bool fail_gone(Uplink *uplink)
{
        return FAIL(uplink,
                    "the daemon at %s has gone: what it has acknowledged is safe; start clrsymd "
                    "and feed the trace again",
                    uplink->path);
}

static bool receive(Uplink *uplink)
{
        uint8_t bytes[READ_SIZE];

        for (;;) {
                ssize_t n = recv(uplink->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0 && errno == EAGAIN)
                        return true;
                if (n <= 0)
                        return fail_gone(uplink);
                g_byte_array_append(uplink->in, bytes, (guint)n);
                if (!handle_input(uplink))
                        return false;
                if ((size_t)n < sizeof(bytes))
                        return true;
        }
}

/* False if the daemon no longer reads. */
static bool transmit(Uplink *uplink)
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
        if (!transmit(uplink)) {
                /* Its last words may say why. */
                return receive(uplink) ? fail_gone(uplink) : false;
        }
        if (timeout_ms > 0) {
                struct pollfd poll_fd = {
                        .fd = uplink->fd,
                        .events = POLLIN | (uplink->out->len ? POLLOUT : 0),
                };

                if (poll(&poll_fd, 1, timeout_ms) <= 0)
                        return true;
                if (poll_fd.revents & POLLOUT)
                        (void)transmit(uplink);
        }
        return receive(uplink);
}
