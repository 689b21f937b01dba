/* SPDX-License-Identifier: MIT */
#include "cli/link.h"

#include "cli/output.h"
#include "cli/trace-reader.h"
#include "query/query.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define INTERFACE     "org.clrsym.Symbolizer"
#define SYSTEM_SOCKET "/run/clrsym/query"

/* A daemon that is silent for so long, waiting apart, does not work. */
#define TIMEOUT_MS 60000

struct Link {
        char *path;       /* owned: of the daemon's socket */
        int fd;           /* -1: no daemon, but a trace */
        Tracker *tracker; /* owned: what the trace says */
        GString *reply;   /* owned */
};

/* The daemon's socket: the first that is there. */
static char *find_socket(const Options *options)
{
        const char *from_environment = g_getenv("CLRSYM_SOCKET");
        const char *runtime_dir = g_getenv("XDG_RUNTIME_DIR");

        if (options->socket)
                return g_strdup(options->socket);
        if (from_environment && *from_environment)
                return g_strdup(from_environment);
        if (runtime_dir && *runtime_dir) {
                g_autofree char *path = g_build_filename(runtime_dir, "clrsym", "query", NULL);

                if (access(path, F_OK) == 0)
                        return g_steal_pointer(&path);
        }
        return g_strdup(SYSTEM_SOCKET);
}

static bool connect_daemon(Link *link, GError **error)
{
        struct sockaddr_un address = {.sun_family = AF_UNIX};

        if (strlen(link->path) >= sizeof(address.sun_path)) {
                g_set_error(error, LINK_ERROR, 0, "%s: longer than a socket's path can be",
                            link->path);
                return false;
        }
        strcpy(address.sun_path, link->path);
        link->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (link->fd >= 0 &&
            connect(link->fd, (const struct sockaddr *)&address, sizeof(address)) == 0)
                return true;
        switch (errno) {
        case ENOENT:
        case ENOTDIR:
        case ENOTSOCK:
        case ECONNREFUSED:
                g_set_error(error, LINK_ERROR, 0,
                            "no daemon at %s: systemctl start clrsymd.socket, or use --trace DIR",
                            link->path);
                break;
        default:
                g_set_error(error, LINK_ERROR, 0, "cannot ask the daemon at %s: %s", link->path,
                            g_strerror(errno));
        }
        return false;
}

Link *link_open(const Options *options, GError **error)
{
        g_autoptr(Link) link = g_new0(Link, 1);

        link->fd = -1;
        link->reply = g_string_new(NULL);
        if (options->trace) {
                link->tracker = trace_read(options->trace, error);
                if (!link->tracker)
                        return NULL;
        } else {
                link->path = find_socket(options);
                if (!connect_daemon(link, error))
                        return NULL;
        }
        return g_steal_pointer(&link);
}

void link_free(Link *link)
{
        if (!link)
                return;
        if (link->fd >= 0)
                close(link->fd);
        tracker_free(link->tracker);
        g_string_free(link->reply, TRUE);
        g_free(link->path);
        g_free(link);
}

/* Sends the call and its NUL. */
static bool send_call(Link *link, const GString *call, GError **error)
{
        size_t n_sent = 0;

        while (n_sent < call->len + 1) {
                ssize_t n =
                        send(link->fd, call->str + n_sent, call->len + 1 - n_sent, MSG_NOSIGNAL);

                if (n < 0 && errno == EINTR)
                        continue;
                /* It may have said why it hung up: that is read next. */
                if (n < 0 && (errno == EPIPE || errno == ECONNRESET))
                        return true;
                if (n < 0) {
                        g_set_error(error, LINK_ERROR, 0, "cannot ask the daemon at %s: %s",
                                    link->path, g_strerror(errno));
                        return false;
                }
                n_sent += (size_t)n;
        }
        return true;
}

static bool receive_reply(Link *link, unsigned wait_ms, GError **error)
{
        char bytes[65536];

        for (;;) {
                struct pollfd poll_fd = {.fd = link->fd, .events = POLLIN};
                int r = poll(&poll_fd, 1, (int)wait_ms + TIMEOUT_MS);
                ssize_t n;

                if (r < 0 && errno == EINTR)
                        continue;
                if (r == 0) {
                        g_set_error(error, LINK_ERROR, 0,
                                    "the daemon at %s does not answer: systemctl restart clrsymd",
                                    link->path);
                        return false;
                }
                n = recv(link->fd, bytes, sizeof(bytes), 0);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0) {
                        g_set_error(error, LINK_ERROR, 0,
                                    "the daemon at %s hung up: journalctl -u clrsymd may say why",
                                    link->path);
                        return false;
                }
                g_string_append_len(link->reply, bytes, n);
                /* One call, one reply: nothing can come behind its NUL. */
                if (bytes[n - 1] == '\0') {
                        g_string_truncate(link->reply, link->reply->len - 1);
                        return true;
                }
        }
}

static void answer_here(Link *link, const GString *call)
{
        const QueryContext context = {
                .tracker = link->tracker,
                .is_final = true,
                .viewer = {.sees_all = true},
        };
        QueryProgress progress = {0};

        query_call(&context, call->str, call->len, &progress, link->reply);
}

/* An error reply in words. */
static void set_reply_error(const Link *link, JsonSpan reply, GError **error)
{
        JsonSpan name, parameters = {"", 0};

        if (!json_span_member(reply, "error", &name)) {
                g_set_error(error, LINK_ERROR, 0, "what answers at %s is no clrsymd",
                            link->path ? link->path : "home");
                return;
        }
        json_span_member(reply, "parameters", &parameters);
        g_set_error(error, LINK_ERROR, 0, "the question was refused: %.*s %.*s", (int)name.n,
                    name.at, (int)parameters.n, parameters.at);
}

bool link_call(Link *link, const char *method, const char *parameters, unsigned wait_ms,
               JsonSpan *ret_parameters, GError **error)
{
        g_autoptr(GString) call = g_string_sized_new(strlen(parameters) + 100);
        JsonSpan reply, name;

        g_string_append_printf(call, "{\"method\":\"" INTERFACE ".%s\",\"parameters\":", method);
        g_string_append(call, parameters);
        g_string_append_c(call, '}');
        g_string_truncate(link->reply, 0);
        if (link->fd < 0)
                answer_here(link, call);
        else if (!send_call(link, call, error) || !receive_reply(link, wait_ms, error))
                return false;
        reply = (JsonSpan){link->reply->str, link->reply->len};
        if (json_span_member(reply, "error", &name) ||
            !json_span_member(reply, "parameters", ret_parameters)) {
                set_reply_error(link, reply, error);
                return false;
        }
        return true;
}

bool link_print_lines(Link *link, const char *method, const char *parameters, const char *member,
                      GError **error)
{
        JsonSpan reply, array, element;
        size_t position = 0;

        if (!link_call(link, method, parameters, 0, &reply, error))
                return false;
        if (!json_span_member(reply, member, &array)) {
                g_set_error(error, LINK_ERROR, 0, "the reply has no \"%s\"", member);
                return false;
        }
        while (json_span_next(array, &position, &element))
                output_line(element.at, element.n);
        return true;
}
