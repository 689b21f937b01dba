/* SPDX-License-Identifier: MIT */
#include "feed/viewer-link.h"

#include "lttng/tcp-port.h"
#include "util/byte-pump.h"
#include "util/fd.h"

#include <fcntl.h>
#include <glib.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <sys/socket.h>

typedef struct ViewerRequest {
        ViewerCommand command;
        void *subject; /* borrowed */
} ViewerRequest;

struct ViewerLink {
        BytePump *channel; /* owned */
        int fd;            /* its socket; borrowed */
        GArray *requests;  /* of ViewerRequest: the first n_done have their replies */
        guint n_done;
        gint64 waits_since; /* monotonic us */
        ViewerParser parser;
        const ViewerLinkCalls *calls;
        void *data;
        bool is_freed; /* by one of its own callbacks */
        bool is_calling;
};

static void viewer_destroy(ViewerLink *viewer)
{
        g_array_unref(viewer->requests);
        g_free(viewer);
}

/* Takes all complete replies. False: the link was freed, or is broken. */
static bool viewer_take_replies(ViewerLink *viewer, GByteArray *input, size_t *ret_n)
{
        size_t at = 0;

        while (at < input->len) {
                ViewerReply reply;
                ViewerRequest request;
                ssize_t n;

                if (viewer->n_done == viewer->requests->len) {
                        viewer->calls->ended(viewer->data,
                                             "lttng-relayd sends a reply to no request", true);
                        return false;
                }
                request = g_array_index(viewer->requests, ViewerRequest, viewer->n_done);
                n = viewer_reply_next(&viewer->parser, request.command, input->data + at,
                                      input->len - at, &reply);
                if (n == 0)
                        break;
                if (n < 0) {
                        viewer->calls->ended(viewer->data,
                                             "the program that answers is not lttng-relayd, or "
                                             "sends too much at once",
                                             true);
                        return false;
                }
                at += (size_t)n;
                viewer->n_done += reply.is_last;
                viewer->calls->reply(viewer->data, request.command, request.subject, &reply);
                if (viewer->is_freed)
                        return false;
        }
        *ret_n = at;
        return true;
}

/*
 * The relay daemon's next reply can wait in its socket until the reply before is acknowledged,
 * which the kernel delays by up to 40 ms if there is nothing to send. The option has to be set
 * again each time.
 */
static void viewer_acknowledge(const ViewerLink *viewer)
{
        const int yes = 1;

        if (viewer->requests->len > 0)
                setsockopt(viewer->fd, IPPROTO_TCP, TCP_QUICKACK, &yes, sizeof(yes));
}

static void viewer_on_input(void *data)
{
        ViewerLink *viewer = data;
        GByteArray *input = byte_pump_input(viewer->channel);
        size_t n = 0;

        viewer->is_calling = true;
        if (viewer_take_replies(viewer, input, &n)) {
                g_byte_array_remove_range(input, 0, (guint)n);
                g_array_remove_range(viewer->requests, 0, viewer->n_done);
                viewer->n_done = 0;
                viewer->waits_since = g_get_monotonic_time();
                viewer_acknowledge(viewer);
                viewer->calls->idle(viewer->data);
        }
        viewer->is_calling = false;
        if (viewer->is_freed)
                viewer_destroy(viewer);
        else
                viewer_link_flush(viewer);
}

static void viewer_on_closed(void *data)
{
        ViewerLink *viewer = data;

        viewer->calls->ended(viewer->data, "lttng-relayd has disconnected, or cannot be reached",
                             false);
}

static const BytePumpCalls CHANNEL_CALLS = {
        .input = viewer_on_input,
        .closed = viewer_on_closed,
};

/* A socket in the network namespace of process NET. -1 with errno set. */
static int socket_in(pid_t net, int family)
{
        FD_AUTO int own = -1;
        int fd;

        if (!net)
                return socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        own = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
        if (own < 0 || !net_namespace_enter(net))
                return -1;
        fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (setns(own, CLONE_NEWNET) < 0)
                g_error("cannot return to our network namespace: %s", g_strerror(errno));
        return fd;
}

/* -1 with ERROR set. */
static int viewer_connect(const char *host, uint16_t port, pid_t net, GError **error)
{
        const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
        struct addrinfo *found = NULL, *one;
        char service[8];
        const int yes = 1;
        int code, fd = -1;

        snprintf(service, sizeof(service), "%u", port);
        code = getaddrinfo(host, service, &hints, &found);
        if (code != 0) {
                g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_FAILED, "%s: %s", host,
                            gai_strerror(code));
                return -1;
        }
        for (one = found; one && fd < 0; one = one->ai_next) {
                fd = socket_in(net, one->ai_family);
                if (fd >= 0 && connect(fd, one->ai_addr, one->ai_addrlen) < 0 &&
                    errno != EINPROGRESS)
                        fd_clear(&fd);
        }
        if (fd < 0)
                g_set_error(error, G_FILE_ERROR, (gint)g_file_error_from_errno(errno),
                            "cannot connect to %s:%u: %s", host, port, g_strerror(errno));
        else
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        freeaddrinfo(found);
        return fd;
}

ViewerLink *viewer_link_new(const char *host, uint16_t port, pid_t net,
                            const ViewerLinkCalls *calls, void *data, GError **error)
{
        int fd = viewer_connect(host, port, net, error);
        ViewerLink *viewer;

        if (fd < 0)
                return NULL;
        viewer = g_new0(ViewerLink, 1);
        viewer->calls = calls;
        viewer->data = data;
        viewer->requests = g_array_new(FALSE, FALSE, sizeof(ViewerRequest));
        viewer->fd = fd;
        viewer->channel = byte_pump_new(fd, &CHANNEL_CALLS, viewer);
        return viewer;
}

void viewer_link_free(ViewerLink *viewer)
{
        if (!viewer)
                return;
        byte_pump_free(viewer->channel);
        viewer->is_freed = true;
        if (!viewer->is_calling)
                viewer_destroy(viewer);
}

GByteArray *viewer_link_output(ViewerLink *viewer)
{
        return byte_pump_output(viewer->channel);
}

void viewer_link_put(ViewerLink *viewer, ViewerCommand command, void *subject)
{
        const ViewerRequest request = {.command = command, .subject = subject};

        if (viewer->requests->len == 0)
                viewer->waits_since = g_get_monotonic_time();
        g_array_append_val(viewer->requests, request);
}

gint64 viewer_link_waits_since(const ViewerLink *viewer)
{
        return viewer->requests->len > 0 ? viewer->waits_since : 0;
}

void viewer_link_flush(ViewerLink *viewer)
{
        byte_pump_flush(viewer->channel);
}
