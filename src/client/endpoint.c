/* SPDX-License-Identifier: MIT */
#include "client/endpoint.h"

#include "util/libc-extras.h"
#include "util/runtime-path.h"
#include "util/unix-socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_RECONNECT_MS 5000

/* NULL: no memory. */
static char *endpoint_path(const clrsym_options *options)
{
        if (options->trace)
                return strdup(options->trace);
        return options->socket ? strdup(options->socket)
                               : runtime_path_find("CLRSYM_SOCKET", RUNTIME_QUERY);
}

int endpoint_init(Endpoint *endpoint, const clrsym_options *options, Message *message)
{
        *endpoint = (Endpoint){.is_trace = options->trace != NULL, .child = TRACE_CHILD_NONE};
        if (options->trace && options->socket)
                return message_set(message, -EINVAL, "either a socket or a trace, not both");
        if (!options->trace && options->save)
                return message_set(message, -EINVAL, "a snapshot can only be saved of a trace");
        endpoint->path = endpoint_path(options);
        if (!endpoint->path)
                return message_set_no_memory(message);
        if (!endpoint->is_trace && options->reconnect_ms >= 0)
                endpoint->reconnect_ms =
                        options->reconnect_ms ? options->reconnect_ms : DEFAULT_RECONNECT_MS;
        return 0;
}

int endpoint_copy(Endpoint *endpoint, const Endpoint *original, Message *message)
{
        *endpoint = (Endpoint){.path = strdup(original->path),
                               .reconnect_ms = original->reconnect_ms,
                               .child = TRACE_CHILD_NONE};
        return endpoint->path ? 0 : message_set_no_memory(message);
}

void endpoint_deinit(Endpoint *endpoint)
{
        trace_child_end(&endpoint->child);
        free(endpoint->path);
}

int endpoint_connect(Endpoint *endpoint, Connection *connection, int wait_ms, Message *message)
{
        int64_t now = clock_ms(), until = now + wait_ms;
        int r;

        if (endpoint->is_trace)
                return message_set(message, -ECONNRESET,
                                   "%s: the process that read it has ended: open the trace again",
                                   endpoint->path);
        for (;;) {
                r = connection_open(connection, endpoint->path, now + UNRESPONSIVE_MS);
                if (r == 0)
                        return 0;
                if (!unix_socket_is_absent(r) || clock_ms() >= until)
                        return endpoint_explain(endpoint, r, NULL, message);
                poll(NULL, 0, PAUSE_MS);
        }
}

/* Explains an error of the connections to the child that reads the trace. */
static int explain_child(Endpoint *endpoint, int error, const char *detail, Message *message)
{
        switch (error) {
        case -ECONNRESET:
                return trace_child_explain(&endpoint->child, endpoint->path, message);
        case -ETIMEDOUT:
                return message_set(message, error, "%s: clrsymd does not answer", endpoint->path);
        case -EBADMSG:
                return message_set(message, error, "%s: clrsymd and libclrsym do not match%s%s",
                                   endpoint->path, detail ? ": " : "", detail ? detail : "");
        default:
                return message_set(message, error, "%s: cannot ask clrsymd: %s", endpoint->path,
                                   strerrordesc_np(-error));
        }
}

int endpoint_explain(Endpoint *endpoint, int error, const char *detail, Message *message)
{
        if (error == -ENOMEM)
                return message_set_no_memory(message);
        if (endpoint->is_trace)
                return explain_child(endpoint, error, detail, message);
        if (unix_socket_is_absent(error))
                return message_set(message, error,
                                   "no daemon at %s: systemctl start clrsymd.socket, or use "
                                   "--trace PATH",
                                   endpoint->path);
        switch (error) {
        case -ENAMETOOLONG:
                return message_set(message, error, "%s: longer than a socket's path can be",
                                   endpoint->path);
        case -ECONNRESET:
                return message_set(
                        message, error,
                        "the daemon at %s disconnected: journalctl -u clrsymd may say why",
                        endpoint->path);
        case -ETIMEDOUT:
                return message_set(message, error,
                                   "the daemon at %s does not answer: systemctl restart clrsymd",
                                   endpoint->path);
        case -EBADMSG:
                if (detail)
                        return message_set(message, error,
                                           "the daemon at %s and libclrsym do not match: %s",
                                           endpoint->path, detail);
                return message_set(message, error, "the program that answers at %s is not clrsymd",
                                   endpoint->path);
        default:
                return message_set(message, error, "cannot ask the daemon at %s: %s",
                                   endpoint->path, strerrordesc_np(-error));
        }
}
